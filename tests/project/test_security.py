"""Every sentence that SECURITY.md promises has an attack that would break it."""

import ast
import functools
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


KILLS, FOLDERS = "utils/test_failpoints.py", "studio/test_hostile_folder.py"
ATTACKS = {
    "Nothing in a file is executed": "estimators/test_damaged_models.py::test_nothing_in_a_file_is_executed",
    "Data files, model files, rule files": "fuzz/test_fuzz.py::test_no_mutation_does_harm",
    "No pickle is loaded": f"{FOLDERS}::test_training_imports_nothing_from_the_current_folder",
    "Commands ignore a `matplotlibrc`": "cli/test_plot.py::test_a_matplotlibrc_of_somebody_else_is_ignored",
    "Scripts that the studio exports": "studio/test_files.py::test_text_of_rules_stays_text_in_the_snippet",
    "A model file cannot choose": "estimators/test_damaged_models.py::test_a_file_does_not_choose_how_a_fit_runs",
    "Damaged and hostile files end": "fuzz/test_fuzz.py::test_files_that_once_did_harm",
    "A crash, a hang, or a small file": "datasets/test_budget.py::test_no_file_takes_more_memory_than_the_budget",
    "Names are only names.": "studio/test_edits.py::test_hostile_names_only_appear",
    "Names of features, bags and classes": "report/test_report.py::test_names_cannot_break_out",
    "Results that go into a file or a pipe": "cli/test_streams.py::test_results_in_files_and_pipes_are_not_changed",
    "Files are written whole": "utils/test_storage.py::test_a_failure_at_any_step_leaves_the_old_file_and_nothing_else",
    "- A result replaces a file": "utils/test_storage.py::test_a_folder_appears_when_it_is_complete",
    "If the process is killed": f"{KILLS}::test_a_killed_command_leaves_the_old_file_or_the_new_one",
    "What you name is what is written": "utils/test_storage.py::test_a_disk_is_not_overwritten",
    "What fuzzymil names itself": "cli/test_outputs.py::test_an_output_that_nobody_named_follows_no_link",
    "A link, a pipe or a device": f"{FOLDERS}::test_damaged_content_is_not_written_through_a_link",
    "Journals and checkpoints are read only": f"{FOLDERS}::test_a_kept_file_is_read_only_if_it_is_plain",
    "An edit in the studio": f"{FOLDERS}::test_an_edit_that_cannot_be_kept_is_not_made",
    "Text with half of a character": f"{FOLDERS}::test_half_a_character_is_refused_and_changes_nothing",
    "A command refuses an output": "cli/test_outputs.py::test_an_input_is_not_overwritten_through_a_stream",
    "The exception is `fit --continue`": "cli/test_outputs.py::test_a_model_can_be_continued_in_place",
    "Whether an output can be written": "cli/test_outputs.py::test_a_full_disk_is_noticed_before_the_work",
    "If a command still cannot write": "cli/test_outputs.py::test_a_result_that_does_not_fit_is_rescued",
    "Only you can read that file.": "utils/test_storage.py::test_only_its_user_can_read_a_rescued_result",
    "Files go where you say.": "cli/test_outputs.py::test_checkpoints_stay_until_the_model_is_saved",
    "Besides the outputs that you name": f"{KILLS}::test_nothing_is_written_elsewhere",
    "Compiled programs are": "utils/test_programs.py::test_nothing_is_kept_where_others_could_write_or_where_it_is_off",
    "Nothing listens": "studio/test_server.py::test_only_this_machine_is_listened_to",
    "`fuzzymil studio` listens": "studio/test_server.py::test_only_this_machine_is_listened_to",
    "The address that it opens": "studio/test_server.py::test_the_token_works_once_and_leaves_a_cookie",
    "Requests with another host or origin": "studio/test_server.py::test_other_origins_are_refused",
    "The page loads nothing from elsewhere": "studio/test_server.py::test_the_page_is_kept_to_itself",
    "Files are uploaded to it": "studio/test_files.py::test_only_plain_names_are_saved",
    "Other users of the same machine": "studio/test_server.py::test_without_token_or_cookie_nothing_is_served",
    "Nothing is sent.": f"{KILLS}::test_nothing_connects_to_other_machines",
    "The content of downloads": "datasets/test_downloads.py::test_an_archive_with_something_else",
}
"""How each sentence begins, and the test that attacks it."""


def promises():
    """Yield the sentences of the first part of SECURITY.md, without its table."""
    text = (ROOT / "SECURITY.md").read_text().split("## What fuzzymil promises\n")[1].split("\n## ")[0]
    text = re.sub(r"^\|.*\n", "", text, flags=re.MULTILINE)
    for part in re.split(r"\n\n|\n- ", text):
        plain = " ".join(part.replace("**", "").split())
        yield from (each for each in re.split(r"(?<=[.:!])\s+(?=[A-Z`])", plain) if each)


@functools.cache
def names_in(file):
    tree = ast.parse((ROOT / "tests" / file).read_text())
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("promise", list(promises()))
def test_every_promise_has_an_attack(promise):
    (start,) = [start for start in ATTACKS if promise.startswith(start)]
    file, name = ATTACKS[start].split("::")
    assert name in names_in(file)


def test_no_attack_is_left_from_an_older_promise():
    assert all(any(promise.startswith(start) for promise in promises()) for start in ATTACKS)
