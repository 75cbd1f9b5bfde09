"""The promises every command keeps: streams, exit codes, quiet pipes, inert text."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

AS_OF = ("--as-of", "2024-10-01")


def test_stdout_is_data_only_and_the_rest_goes_to_stderr(memcli, harbour_store):
    done = memcli("export", "Who is allergic to walnuts?", "-s", harbour_store, "--json", *AS_OF)
    assert done.code == 0
    assert done.json["schema_version"] == 1
    assert done.out.count("\n") == 1


def test_same_store_and_query_give_the_same_bytes(memcli, harbour_store):
    command = ("export", "What does a bowl cost?", "-s", harbour_store, "--json", *AS_OF)
    first, second = memcli(*command), memcli(*command, PYTHONHASHSEED="7")
    assert first.out == second.out


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("export", "q", "--json", "--jsonl"), 2, "contradict"),
        (("export", "q", "--json", "--prompt"), 2, "contradict"),
        (("export", "q", "--jsonl", "--prompt"), 2, "contradict"),
        (("export", "q", "--as-of", "soon"), 2, "not a date"),
        (("export", "q", "--tz", "Mars/Base"), 2, "no time zone"),
        (("export", "q", "--budget", "many"), 2, "budget"),
        (("export", "   "), 2, "empty"),
        (("ask", "q", "--reader", "oracle"), 2, "oracle"),
        (("ask", "q", "--reader", "llm"), 2, "no model"),
        (("show", "tzzzzzzzz"), 1, "no turn"),
        (("inspect", "turns", "--conversation", "nowhere"), 1, "no turns"),
        (("config", "colour", "blue"), 2, "no setting"),
        (("config", "tz", "Mars/Base"), 2, "no time zone"),
        (("frobnicate",), 2, "frobnicate"),
        (("undo",), 2, "--yes"),
        (("export", "q", "-s", ""), 2, "--store is empty"),
        (("export", "q", "--tz", ""), 2, "--tz is empty"),
    ],
)
def test_mistakes_are_told_in_words_with_their_exit_code(
    memcli, harbour_store, arguments, code, says
):
    done = memcli(*arguments, MEMCLI_STORE=str(harbour_store))
    assert done.code == code
    assert says in done.err
    assert "Traceback" not in done.err
    assert done.out == ""


@pytest.mark.parametrize(
    "arguments",
    [
        ("--as-of", "9999-12-31", "--tz", "America/Los_Angeles"),
        ("--as-of", "0001-01-01", "--tz", "Asia/Tokyo"),
        ("--since", "0001-01-01", "--tz", "Asia/Tokyo"),
        ("--until", "9999-12-31", "--tz", "America/Los_Angeles"),
    ],
)
def test_the_first_and_the_last_day_are_days_in_every_zone(memcli, harbour_store, arguments):
    done = memcli("export", "walnuts", *arguments, MEMCLI_STORE=str(harbour_store))
    assert (done.code, "walnuts" in done.out) == (0, True), done.err


def test_a_question_piped_in_that_is_not_utf8_is_told_in_words(memcli, harbour_store):
    done = memcli("export", "-", input=b"walnuts \xff", MEMCLI_STORE=str(harbour_store))
    assert done.code == 2
    assert "standard input is not UTF-8" in done.err


def test_settings_that_are_not_utf8_are_told_in_words(memcli, tmp_path):
    settings = tmp_path / "settings.toml"
    settings.write_bytes(b"\xff\xfe")
    done = memcli("config", MEMCLI_CONFIG=str(settings))
    assert done.code == 1
    assert "settings.toml: is not UTF-8" in done.err


def test_a_missing_store_is_exit_4_and_says_how_to_make_one(memcli):
    done = memcli("ask", "anything?")
    assert done.code == 4
    assert "memcli ingest" in done.err


def test_debug_shows_the_traceback(memcli):
    done = memcli("ask", "anything?", "--debug")
    assert "StoreMissing" in done.err
    assert "Traceback" in done.err


def test_nothing_found_is_exit_3_only_when_asked_for(memcli, harbour_store):
    question = ("export", "xylophone zeppelin quagmire", "-s", harbour_store)
    assert memcli(*question).code == 0
    assert memcli(*question, "--exit-status").code == 3


def test_piping_into_head_ends_quietly(harbour_store, environment):
    command = f"{sys.executable} -m memcli inspect turns --jsonl -s {harbour_store} | head -1"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        capture_output=True,
        env=environment,
        check=False,
        text=True,
    )
    assert json.loads(done.stdout)["conversation"]
    assert done.stderr == ""


def test_a_reader_that_goes_away_early_is_no_failure(environment, tmp_path):
    text = "word " * 50
    lines = [json.dumps({"role": "user", "content": f"{n} {text}"}) for n in range(3000)]
    (tmp_path / "long.jsonl").write_text("\n".join(lines))
    program = f"{sys.executable} -m memcli"
    command = f"{program} ingest long.jsonl --annotator none && {program} inspect turns | head -1"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0
    assert b"Traceback" not in done.stderr


def test_a_question_can_be_piped_in(memcli, harbour_store):
    done = memcli("export", "-s", harbour_store, *AS_OF, input="Who is allergic to walnuts?\n")
    assert "walnut" in done.out.lower()


def test_without_question_and_without_pipe_it_does_not_wait(harbour_store, environment):
    done = subprocess.run(
        [sys.executable, "-m", "memcli", "export", "-s", str(harbour_store)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env=environment,
        timeout=30,
        check=False,
    )
    assert done.returncode == 2
    assert b"no text given" in done.stderr


def test_stored_escapes_and_markup_are_shown_inert(memcli, tmp_path):
    evil = "\x1b[31mred\x1b[0m [bold]loud[/bold] \x07bell \u202eright"
    assert memcli("add", evil).code == 0
    for command in (("export", "loud bell"), ("inspect", "turns"), ("ask", "loud bell?")):
        shown = memcli(*command).out
        assert "\x1b" not in shown
        assert "\x07" not in shown
        assert "\u202e" not in shown
        assert "[bold]loud[/bold]" in shown
    (turn,) = memcli("inspect", "turns", "--jsonl").lines
    assert turn["text"] == evil


def test_output_is_utf8_whatever_the_locale(memcli):
    memcli("add", "Blåbær 我八点到 🐕")
    done = memcli("inspect", "turns", LC_ALL="C", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert "我八点到 🐕" in done.out


def test_debug_option_may_stand_anywhere_and_version_answers(memcli):
    assert memcli("--debug", "--version").out.startswith("memcli ")
    assert memcli("--version", "--debug").code == 0


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shell_completion_knows_the_commands(environment, shell):
    answers = {
        "bash": ("complete_bash", {"COMP_WORDS": "memcli exp", "COMP_CWORD": "1"}),
        "zsh": ("complete_zsh", {"_TYPER_COMPLETE_ARGS": "memcli exp"}),
        "fish": (
            "complete_fish",
            {"_TYPER_COMPLETE_ARGS": "memcli exp", "_TYPER_COMPLETE_FISH_ACTION": "get-args"},
        ),
    }
    how, extra = answers[shell]
    program = Path(sys.executable).with_name("memcli")
    if not program.exists():
        pytest.skip("the console script is not installed beside this Python")
    done = subprocess.run(
        [str(program)],
        env=environment | {"_MEMCLI_COMPLETE": how} | extra,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "export" in done.stdout


def test_an_interrupt_is_exit_130(environment, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    process = subprocess.Popen(
        [sys.executable, "-m", "memcli", "ingest", "-", "--format", "openai_chat"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
    )
    assert process.stdin is not None
    process.stdin.write(b'{"role": "user", "content": "hi"}\n')
    process.stdin.flush()
    import time

    time.sleep(1.5)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert b"Traceback" not in err


def test_help_loads_nothing_heavy(environment):
    code = (
        "import sys\nsys.argv = ['memcli', '--help']\n"
        "from memcli.__main__ import main\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert end.code == 0\n"
        "heavy = {'litellm', 'spacy', 'tiktoken', 'numpy', 'tantivy', 'httpx', 'dateparser'}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True
    )
    assert done.stderr.strip() == "[]"


def test_export_loads_no_model_library_and_no_tokenizer(environment, harbour_store):
    code = (
        "import sys\n"
        f"sys.argv = ['memcli', 'export', 'When did Mara move?', '-s', {str(harbour_store)!r}]\n"
        "from memcli.__main__ import main\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert end.code == 0\n"
        "heavy = {'litellm', 'spacy', 'tiktoken', 'numpy', 'httpx', 'rich', 'dateparser'}\n"
        "print('heavy', sorted(heavy & set(sys.modules)), file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True
    )
    assert "heavy []" in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device here")
def test_a_full_disk_behind_stdout_is_one_line(harbour_store, environment):
    command = f"{sys.executable} -m memcli inspect turns -s {harbour_store} > /dev/full"
    done = subprocess.run(
        ["bash", "-c", command], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.strip().splitlines() == ["memcli: output: No space left on device"]


def test_words_of_a_date_do_not_hide_what_was_said_in_it(memcli):
    memcli("add", "the marker is red")
    memcli("add", "something else entirely")
    assert memcli("export", "marker since 1900", "--json").json["tier"] == "match"


@pytest.mark.parametrize(
    ("limits", "says"),
    [
        (("--speaker", "Nobody"), "speaker 'Nobody'"),
        (("--conversation", "elsewhere"), "conversation 'elsewhere'"),
        (("--since", "2024-09-01", "--until", "2024-08-01"), "that time"),
    ],
)
def test_a_scope_without_any_turn_is_named(memcli, harbour_store, limits, says):
    done = memcli("export", "Who is allergic to walnuts?", "-s", harbour_store, *limits)
    assert done.out == ""
    assert says in done.err


def test_the_zone_of_the_first_ingest_is_the_stores_own(memcli, tmp_path):
    (tmp_path / "talk.txt").write_text("2024-03-14 20:33 Odo: Petrel.\n2024-03-14 20:36 Ann: Oh.\n")
    first = memcli("ingest", "talk.txt", "--tz", "Europe/Berlin", "--json")
    assert "keeps Europe/Berlin as its zone" in first.err
    assert memcli("ingest", "talk.txt", "--json").json["added"] == 0
    times = [turn["time"] for turn in memcli("inspect", "turns", "--jsonl").lines]
    assert times == ["2024-03-14T19:33:00Z", "2024-03-14T19:36:00Z"]
