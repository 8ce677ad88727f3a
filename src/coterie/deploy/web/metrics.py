"""What Prometheus reads: the same that the page shows, as numbers."""

from collections.abc import Iterable
from math import nan

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from coterie.deploy.view import View


def metrics_of(view: View) -> bytes:
    registry = CollectorRegistry()
    registry.register(_Shown(view))
    return generate_latest(registry)


class _Shown(Collector):
    def __init__(self, view: View):
        self.view = view

    def collect(self) -> Iterable[Metric]:
        view, budget = self.view, self.view.budget
        yield _counter("decisions", "Decisions made", view.decisions)
        yield _counter("decisions_learned", "Decisions that are, or will be, learned from", view.learned)
        yield _gauge("decisions_waiting", "Decisions whose reward may still come", view.waiting)
        yield _gauge("turn", "The node's own turn, or the epoch", view.turn)
        yield _counter("releases", "Noised sums that have left", view.released)
        yield _gauge("budget_epsilon", "What may be spent on one reward", nan if budget.epsilon is None else budget.epsilon)
        yield _gauge("budget_spent", "What was spent on one reward at most", budget.spent)
        yield _gauge("silent", "1 where nothing is reported any more", int(view.silent is not None))
        yield _gauge("connected", "1 while the broker answers", int(bool(view.connected)))
        yield _gauge("messages_unsent", "Messages the broker has not acknowledged", view.unsent)
        yield _gauge("missing_reports", "Members who have not reported in this epoch", len(view.missing))
        yield _gauge("alarms", "Alarms that stand", len(view.alarms))
        yield _each(CounterMetricFamily, "messages_rejected", "Messages not taken in", "reason", view.rejected.items())
        yield _each(CounterMetricFamily, "choices", "Answers by arm", "arm", ((arm.name, arm.choices) for arm in view.arms))
        known = ((arm.name, arm.worth) for arm in view.arms if arm.worth is not None)
        yield _each(GaugeMetricFamily, "worth", "Present estimate by arm", "arm", known)
        stopped = ((arm.name, int(arm.withheld)) for arm in view.arms)
        yield _each(GaugeMetricFamily, "withheld", "1 where an arm is stopped", "arm", stopped)
        lags = ((peer.name, peer.lag) for peer in view.peers if peer.lag is not None)
        yield _each(GaugeMetricFamily, "peer_lag_turns", "Turns that a member is behind", "peer", lags)
        heard = ((peer.name, peer.at) for peer in view.peers if peer.at is not None)
        yield _each(GaugeMetricFamily, "peer_heard_seconds", "When a member was last heard, since 1970", "peer", heard)


def _counter(name: str, about: str, value: float) -> Metric:
    return CounterMetricFamily(f"coterie_{name}", about, value=value)


def _gauge(name: str, about: str, value: float) -> Metric:
    return GaugeMetricFamily(f"coterie_{name}", about, value=value)


def _each(kind: type, name: str, about: str, label: str, pairs: Iterable[tuple[str, float]]) -> Metric:
    family = kind(f"coterie_{name}", about, labels=[label])
    for key, value in pairs:
        family.add_metric([key], value)
    return family
