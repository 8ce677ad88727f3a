"""Every module has a test file of its name, or one that is named here."""

from pathlib import Path

SOURCE, TESTS = Path(__file__).parents[1] / "src/coterie", Path(__file__).parent
NOISE = "privacy/test_mechanisms.py"
DEPLOYED = "engines/test_protocol.py"
COVERED_BY = {
    "algorithms/procurement_printed.py": "algorithms/test_procurement_rounds.py",
    "audit/compare.py": "audit/test_tape.py",
    "audit/couples.py": "audit/test_statistics.py",
    "audit/documents.py": "cli/test_audit.py",
    "audit/findings.py": "audit/test_tape.py",
    "audit/game.py": "audit/test_auditing.py",
    "audit/lives.py": "audit/test_recorder.py",
    "audit/replay.py": "audit/test_leaks.py",
    "audit/rows.py": "audit/test_auditing.py",
    "audit/stage.py": "audit/test_battery.py",
    "audit/weathers.py": "audit/test_recorder.py",
    "building.py": "studies/test_own_ways_out.py",
    "checking/apart.py": "checking/test_wrong_files.py",
    "checking/lives.py": "checking/test_inspection.py",
    "checking/shape.py": "checking/test_wrong_files.py",
    "checking/source.py": "checking/test_wrong_files.py",
    "checking/stage.py": "checking/test_inspection.py",
    "checking/watch.py": "checking/test_wrong_files.py",
    "choices.py": "test_contributing.py",
    "cli/asking.py": "test_limits.py",
    "cli/console.py": "cli/test_text.py",
    "cli/layout.py": "cli/test_table.py",
    "cli/pace.py": "cli/test_progress.py",
    "cli/run.py": "cli/test_cli.py",
    "cli/algorithms.py": "cli/test_show.py",
    "claims/judging.py": "claims/test_measures.py",
    "cli/compare.py": "cli/test_plot.py",
    "cli/reproduce.py": "cli/test_claims.py",
    "cli/scale.py": "cli/test_plot.py",
    "cli/completing.py": "cli/test_show.py",
    "cli/studies.py": "cli/test_cli.py",
    "cli/usage.py": "cli/test_main.py",
    "contract.py": "engines/test_hooks.py",
    "cli/coordinator.py": "deploy/test_up.py",
    "cli/doctor.py": "deploy/test_doctor.py",
    "deploy/clocks/coin.py": "deploy/clocks/test_equal.py",
    "deploy/clocks/reports.py": "deploy/clocks/test_epochs.py",
    "deploy/clocks/skipping.py": "deploy/clocks/test_equal.py",
    "deploy/deployable.py": "deploy/test_federation.py",
    "deploy/message.py": "deploy/test_mailbox.py",
    "deploy/refusals.py": "deploy/web/test_app.py",
    "deploy/tables.py": "deploy/test_federation.py",
    "deploy/stores/summary.py": "cli/test_ledger.py",
    "deploy/view.py": "deploy/web/test_page.py",
    "deploy/web/answers.py": "deploy/web/test_app.py",
    "deploy/wire/wire.py": "deploy/wire/test_memory.py",
    "engines/attacks.py": "engines/test_faults.py",
    "engines/chance.py": DEPLOYED,
    "engines/desk.py": DEPLOYED,
    "engines/guard.py": DEPLOYED,
    "engines/mail.py": DEPLOYED,
    "engines/memory.py": "engines/test_keys.py",
    "engines/mesh.py": "engines/test_hooks.py",
    "engines/simulate.py": "engines/test_conformance.py",
    "engines/turn.py": NOISE,
    "errors.py": "cli/test_cli.py",
    "plots/picture.py": "test_notebook.py",
    "privacy/events.py": "privacy/test_accountant.py",
    "privacy/mechanisms/kept.py": NOISE,
    "privacy/mechanisms/laplace.py": "privacy/test_laplace_note.py",
    "privacy/mechanisms/mechanism.py": NOISE,
    "privacy/mechanisms/normal.py": NOISE,
    "privacy/mechanisms/pairs.py": "algorithms/test_procurement_privacy.py",
    "privacy/mechanisms/shares.py": "privacy/test_laplace_note.py",
    "privacy/mechanisms/streams.py": "privacy/test_streams.py",
    "privacy/offers.py": "privacy/test_door.py",
    "privacy/secret.py": "privacy/test_stretches.py",
    "problem/bernoulli.py": "problem/test_rewards.py",
    "problem/gaussian.py": "problem/test_rewards.py",
    "problem/harvest.py": "problem/test_rewards.py",
    "problem/laws.py": "test_contributing.py",
    "problem/linear.py": "problem/test_rewards.py",
    "report/glossary.py": "report/test_study.py",
    "report/paper.py": "cli/test_claims.py",
    "studies/arms.py": "studies/test_faults.py",
    "studies/budget.py": "studies/test_promises.py",
    "studies/filling.py": "studies/test_titles.py",
    "studies/purchases.py": "studies/test_procurement.py",
    "studies/results.py": "studies/test_rows.py",
    "studies/running.py": "studies/test_liars.py",
    "studies/problems.py": "studies/test_reading.py",
    "studies/spec.py": "studies/test_reading.py",
    "studies/tables.py": "studies/test_reading.py",
    "studies/wiring.py": "studies/test_estimate.py",
    "theory/votes.py": "algorithms/test_pr_ucb_index.py",
    "version.py": "test_project.py",
}


def modules() -> set[str]:
    return {path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*.py") if path.name != "__init__.py"}


def own_tests(module: str) -> list[Path]:
    """`test_door.py`, or `test_gossip_sums.py` and others where one file would be too long."""
    place = TESTS / Path(module).parent
    return [*place.glob(f"test_{Path(module).stem}.py"), *place.glob(f"test_{Path(module).stem}_*.py")]


def test_every_module_is_covered_by_a_test_file_that_can_be_found():
    assert [module for module in sorted(modules() - COVERED_BY.keys()) if not own_tests(module)] == []


def test_the_exceptions_are_true():
    assert COVERED_BY.keys() <= modules()
    assert [name for name in sorted(set(COVERED_BY.values())) if not (TESTS / name).exists()] == []
    alone = [module for module in COVERED_BY if (TESTS / Path(module).parent / f"test_{Path(module).stem}.py").exists()]
    assert alone == []
