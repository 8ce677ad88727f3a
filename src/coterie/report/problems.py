"""What the page says of a problem: one class for each sort, with the same answers. Nothing else asks which sort it is."""

from collections.abc import Mapping, Sequence
from typing import Any

from coterie.problem.instances import INSTANCES
from coterie.problem.laws import LAWS
from coterie.problem.suppliers import DISTRIBUTIONS
from coterie.report import procurement
from coterie.report.agents import AGENTS_MAX
from coterie.report.charts import producers_of
from coterie.report.dataset import REWARD
from coterie.report.rows import Row
from coterie.report.truth import agent_names
from coterie.studies.numbers import number, percent, plural
from coterie.studies.words import Words


class Arms:
    """Agents that pull arms."""

    arm = "for example a treatment or an offer; the best one is not known beforehand"
    judged = ("Best", "arm")  # the two lines of a column's heading
    judging = "share of agents that played it most in the last tenth of the rounds"

    @staticmethod
    def choosing(row: Row) -> str:
        verb = "chooses" if row["agents"] == 1 else "choose"
        return f"{plural(row['agents'], 'agent')} {verb} one of {plural(row['arms'], 'arm')} in each of {rounds_of(row)}."

    @staticmethod
    def setting(problem: Mapping[str, Any]) -> str:
        return f"{_reward_text(problem)}; the arms' mean rewards {_means_text(problem)}."

    @staticmethod
    def regret(problem: Mapping[str, Any]) -> str:
        """What regret is."""
        best = f"the arm that is best on {average(problem)} over all agents" if agents_differ(problem) else "the best arm"
        return f"reward given up, in expectation, by not always choosing {best}; a regret of 2 means two rewards of 1 fewer"

    @staticmethod
    def outcome(row: Row) -> str:
        """What a row is judged by beside its regret."""
        return "-" if row["best_arm_rate"] is None else percent(row["best_arm_rate"])

    @staticmethod
    def shows(measurement: str) -> bool:
        """Has it a place of its own outside the further measurements?"""
        return False

    @staticmethod
    def sections(study: Mapping[str, Any], rows: Sequence[Row], words: Words) -> dict[str, Any] | None:
        """What sections of its own show."""
        return None


class Procurement(Arms):
    """Agents that order of producers: there is no best arm, but orders that were not good enough."""

    arm = "here: a producer to order from"
    judged = ("Violated", "rounds")
    judging = "rounds of one agent whose order was not good enough"

    @staticmethod
    def choosing(row: Row) -> str:
        verb = "orders" if row["agents"] == 1 else "order"
        return f"{plural(row['agents'], 'agent')} {verb} from {plural(row['arms'], 'producer')} in each of {rounds_of(row)}."

    @staticmethod
    def setting(problem: Mapping[str, Any]) -> str:
        return (
            f"What is bought must have an average quality of at least {problem['alpha']:g}; "
            f"only costs and capacities are known beforehand. {_suppliers_text(problem)}"
        )

    @staticmethod
    def regret(problem: Mapping[str, Any]) -> str:
        return "expected revenue given up against the best allowed order; a round that breaks the limit costs a penalty"

    @staticmethod
    def outcome(row: Row) -> str:
        return number(procurement.violated(row))

    @staticmethod
    def shows(measurement: str) -> bool:
        return procurement.is_shown(measurement)

    @staticmethod
    def sections(study: Mapping[str, Any], rows: Sequence[Row], words: Words) -> dict[str, Any] | None:
        """What agents bought, and from whom they learned."""
        names = agent_names(study["problem"], rows[0]["agents"])
        return {
            "alpha": f"{study['problem']['alpha']:g}",
            "exploration": procurement.exploration_text(rows),
            "table": procurement.table(rows),
            "agents": procurement.agents_table(rows) if len(names) <= AGENTS_MAX else [],
            "slacks": procurement.slacks(rows),
            "learning": procurement.learning_table(rows),
            "producers": producers_of(study, rows, words),
            "lessons": procurement.lessons(rows, names),
            "losses": procurement.losses(rows),
            "deltas": procurement.DELTAS,
            "source": procurement.source_table(study, rows),
        }


def told_of(problem: Mapping[str, Any]) -> type[Arms]:
    """Who answers for the problem of a summary."""
    return Procurement if problem["kind"] == "procurement" else Arms


def told_by(row: Row) -> type[Arms]:
    """Who answers for a row of it."""
    return Procurement if "procurement" in row else Arms


def rounds_of(row: Row) -> str:
    return plural(row["horizon"], "round")


def _suppliers_text(problem: Mapping[str, Any]) -> str:
    """Where qualities, costs and capacities come from."""
    if problem.get("file"):
        return f"The suppliers are those of the table “{problem['file']}”."
    if not problem.get("distribution"):
        return "The suppliers are given in the study."
    law = DISTRIBUTIONS[problem["distribution"]].said(problem)
    instances = problem.get("instances")
    drawn = f"for {plural(instances, 'instance')}, which take turns" if instances else "anew for every run"
    same = " Costs and capacities are the same for all agents." if problem["homogeneous"] else ""
    return f"Qualities and costs are {law}, drawn {drawn}.{same}"


def _reward_text(problem: Mapping[str, Any]) -> str:
    if problem.get("dataset"):
        return f"A choice brings a reward of 1 if the patient is {REWARD}, else 0"
    return LAWS[problem["kind"]].sentence(problem)


def _means_text(problem: Mapping[str, Any]) -> str:
    instance, spread = problem["instance"], problem["heterogeneity"]
    text = f"are {INSTANCES[instance].said(problem)}" if instance else "are given in the study"
    if problem.get("dataset"):
        text = f"come from the data set “{problem['dataset']}”, split “{problem['split']}”"
    if spread:
        text += f"; agents see different means (heterogeneity {spread:g})"
    if agents_differ(problem):
        text += f"; each arm counts by its {average(problem)} over agents"
    return text


def average(problem: Mapping[str, Any]) -> str:
    """What makes an arm the best one."""
    return "weighted average" if problem.get("weights") else "average"


def agents_differ(problem: Mapping[str, Any]) -> bool:
    """Do agents have means of their own?"""
    means = problem["means"]
    return bool(problem["heterogeneity"] or problem.get("dataset") or (means and isinstance(means[0], list)))
