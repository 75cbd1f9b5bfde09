"""WhatsApp exports: every layout of stamps, one order of dates a file, whose words they are."""

from __future__ import annotations

import json
import zipfile
from datetime import UTC
from zoneinfo import ZoneInfo

import pytest
from importers.reading import (
    SHARED,
    as_input,
    drafts,
    events,
    iso,
    needs_shared,
    only,
    read_paths,
)

from memcli.errors import SourceFormatError
from memcli.importers.contract import ReadOptions, Rejected, Warned
from memcli.importers.detect import detect, format_named
from memcli.importers.phone_stamps import stamp_of


def chat(*lines, end="\n"):
    return as_input(end.join(lines) + end, "chat.txt")


def turns(*lines, end="\n"):
    return drafts(events(chat(*lines, end=end), name="whatsapp"))


@pytest.mark.parametrize(
    ("stamp", "time"),
    [
        ("12/24/23, 9:05\u202fPM - ", "2023-12-24T21:05:00+00:00"),
        ("12/24/23, 9:05 PM - ", "2023-12-24T21:05:00+00:00"),
        ("24.12.23, 21:05 - ", "2023-12-24T21:05:00+00:00"),
        ("2024/12/01, 10:04 pm - ", "2024-12-01T22:04:00+00:00"),
        ("28/3/2025, 9:29\u00a0p.\u00a0m. - ", "2025-03-28T21:29:00+00:00"),
        ("[27-11-18 18:43:20] ", "2018-11-27T18:43:20+00:00"),
        ("[31/12/2022, 11:40:26] ", "2022-12-31T11:40:26+00:00"),
        ("[17.03.26, 21:22:39] ", "2026-03-17T21:22:39+00:00"),
        ("\u200e[14/10/2021, 3:34:09\u202fPM] ", "2021-10-14T15:34:09+00:00"),
        ("2016-06-27, 8:04:08 AM: ", "2016-06-27T08:04:08+00:00"),
        ("30/12/2020 13:00 - ", "2020-12-30T13:00:00+00:00"),
        ("\u200f[١٥\u200f/٦\u200f/٢٠٢٣, ١١:٤٠:٢٦ ص] ", "2023-06-15T11:40:26+00:00"),
        ("31\u200f/5\u200f/2023، 9:05 م - ", "2023-05-31T21:05:00+00:00"),
        ("२४/१२/२३, ९:०५ अपराह्न - ", "2023-12-24T21:05:00+00:00"),
        ("2023. 5. 31. 오후 9:05 - ", "2023-05-31T21:05:00+00:00"),
        ("2023/5/31 下午9:05 - ", "2023-05-31T21:05:00+00:00"),
        ("31.5.2023 klo 21.05 - ", "2023-05-31T21:05:00+00:00"),
        ("31/12/23 à 21:05 - ", "2023-12-31T21:05:00+00:00"),
        ("2023-05-31 21:05 - ", "2023-05-31T21:05:00+00:00"),
        ("31/05/2023, 12:00 a. m. - ", "2023-05-31T00:00:00+00:00"),
    ],
)
def test_every_layout_of_a_stamp(stamp, time):
    found = chat(f"{stamp}Ann: hi: there", f"{stamp}Bob B.: yo", "and more")
    assert detect(found).format.name == "whatsapp"
    said = [(turn.speaker, turn.text, iso(turn)) for turn in drafts(events(found))]
    assert said == [("Ann", "hi: there", time), ("Bob B.", "yo\nand more", time)]
    assert all(turn.time.zone_assumed for turn in drafts(events(found)))


def test_the_finest_unit_is_what_the_stamp_states():
    assert turns("24.12.23, 21:05 - A: x")[0].time.granularity == "minute"
    assert turns("[24.12.23, 21:05:09] A: x")[0].time.granularity == "second"


def test_times_are_read_in_the_zone_that_is_stated():
    options = ReadOptions(tz=ZoneInfo("Europe/Berlin"))
    [turn] = format_named("whatsapp").read(chat("24.12.23, 21:05 - A: x"), options)
    assert iso(turn) == "2023-12-24T20:05:00+00:00"


def test_an_order_that_nothing_proves_is_refused_with_the_flag():
    found = chat("3/4/2021, 09:00 - Bram: when?", "5/4/2021, 09:00 - Ines: who knows")
    with pytest.raises(SourceFormatError) as caught:
        events(found)
    assert "--date-order dmy or mdy" in caught.value.hint
    for order, time in (("dmy", "2021-04-03"), ("mdy", "2021-03-04")):
        options = ReadOptions(tz=UTC, date_order=order)
        first, _ = format_named("whatsapp").read(found, options)
        assert iso(first).startswith(time)


def test_what_the_file_proves_stands_over_the_flag():
    found = chat("30/12/2020 13:00 - Bram: in", "2/1/2021 13:00 - Ines: out")
    options = ReadOptions(tz=UTC, date_order="mdy")
    read = list(format_named("whatsapp").read(found, options))
    assert [iso(turn)[:10] for turn in drafts(read)] == ["2020-12-30", "2021-01-02"]
    assert "mdy" in only(read, Warned)[0].reason


def test_lines_of_a_message_are_kept_and_blank_ones_between():
    [first, _] = turns("24.12.23, 21:05 - A: one", "", "  two", "24.12.23, 21:06 - B: x", "")
    assert first.text == "one\n\n  two"


def test_a_pasted_stamp_of_another_layout_is_text():
    lines = [f"24.12.23, 21:0{k} - A: x" for k in range(5)]
    [*_, last] = turns(*lines, "[24.12.23, 21:05:09] B: pasted", "12/24/23, 9:05 PM - B: pasted")
    assert last.text == "x\n[24.12.23, 21:05:09] B: pasted\n12/24/23, 9:05 PM - B: pasted"


def test_where_messages_end_with_a_carriage_return_a_bare_line_feed_never_begins_one():
    whole = [f"[24.12.23, 21:05:0{k}] A: x" for k in range(5)]
    body = "\r\n".join([*whole[:4], whole[4] + "\n[24.12.23, 21:05:09] B: mine", ""])
    found = drafts(events(as_input(body, "chat.txt")))
    assert len(found) == 5
    assert found[-1].text == "x\n[24.12.23, 21:05:09] B: mine"
    assert len(turns(*whole, end="\r\n")) == 5


def test_notices_have_no_speaker_and_are_no_human_words():
    found = turns(
        "24.12.23, 21:05 - Messages are end-to-end encrypted.",
        "24.12.23, 21:05 - Bram added Ola",
        "24.12.23, 21:05 - Bram changed the subject from “Dock: one” to “Dock: two”",
        '24.12.23, 21:05 - Rob "Bo" Ek: hi',
        '24.12.23, 21:05 - Rob "Bo" Ek: hi again',
        "24.12.23, 21:05 - Ola: null",
        "24.12.23, 21:05 - Ola: ",
        "24.12.23, 21:05 - Ola:",
    )
    assert [(turn.role, turn.speaker) for turn in found] == [
        ("system", None), ("system", None), ("system", None),
        ("user", 'Rob "Bo" Ek'), ("user", 'Rob "Bo" Ek'),
        ("user", "Ola"), ("user", "Ola"), ("user", "Ola"),
    ]  # fmt: skip
    assert [turn.text for turn in found[-3:]] == ["null", "", ""]


def test_a_group_that_stands_before_notices_is_the_title_and_no_speaker():
    found = turns(
        "[24.12.23, 21:05:01] Dock crew: \u200eMessages and calls are end-to-end encrypted.",
        "[24.12.23, 21:05:02] Bram: \u200eBram added Ola",
        "\u200e[24.12.23, 21:05:03] Bram: \u200eimage omitted",
        "[24.12.23, 21:05:04] Bram: \u200eThis message was deleted.",
    )
    assert [(turn.role, turn.speaker) for turn in found] == [
        ("system", None), ("system", None), ("user", "Bram"), ("user", "Bram"),
    ]  # fmt: skip
    assert {turn.title for turn in found} == {"Dock crew"}
    assert found[1].text == "Bram added Ola"


def test_in_a_chat_of_two_the_notice_bears_the_others_name():
    notice, words = turns(
        "[24.12.23, 21:05:01] Bram: \u200eMensajes cifrados de extremo a extremo.",
        "[24.12.23, 21:05:04] Bram: hola",
    )
    assert (notice.role, notice.speaker, words.role) == ("system", None, "user")


@pytest.mark.parametrize(
    ("text", "caption"),
    [
        ("\u200e<attached: 0001-PHOTO-2021.jpg>", "image: 0001-PHOTO-2021.jpg"),
        ("\u200e<Anhang: 0001-VIDEO.mp4>", "video: 0001-VIDEO.mp4"),
        ("IMG-20240103-WA0001.jpg (file attached)", "image: IMG-20240103-WA0001.jpg"),
        ("PTT-20250329-WA0001.opus (archivo adjunto)", "audio: PTT-20250329-WA0001.opus"),
        ("tide table.pdf (Datei angehängt)", "file: tide table.pdf"),
        ("see plan.pdf (the new one)", None),
        ("<Media omitted>", None),
    ],
)
def test_attachments_are_captions_and_the_text_stays(text, caption):
    [turn] = turns(f"24.12.23, 21:05 - A: {text}")
    assert (turn.caption, turn.text) == (caption, text.removeprefix("\u200e"))


def test_marks_inside_what_a_person_wrote_stay():
    [turn] = turns("24.12.23, 21:05 - A: \u200fمرحبا\u200e ok \u200d")
    assert turn.text == "\u200fمرحبا\u200e ok \u200d"


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("~\u202fOla", "Ola"),
        ("~ Ola", "Ola"),
        ("\u202a+44\u00a07700\u00a0900123\u202c", "+44 7700 900123"),
        ("+49\u2011170\u20115", "+49-170-5"),
        ("Ines 🌿", "Ines 🌿"),
    ],
)
def test_names_are_as_a_person_writes_them(written, name):
    assert turns(f"24.12.23, 21:05 - {written}: x")[0].speaker == name


def test_an_unreadable_time_costs_only_the_time():
    lines = ["24.12.23, 21:05 - A: x", "31.02.24, 21:05 - A: y", "24.12.23, 27:05 - A: z"]
    found = events(chat(*lines), name="whatsapp")
    assert [turn.text for turn in drafts(found)] == ["x", "y", "z"]
    assert [turn.time is None for turn in drafts(found)] == [False, True, True]
    assert len(only(found, Warned)) == 2


def test_another_calendar_is_kept_without_times_and_warned_of_in_few_words():
    found = events(chat(*(f"1402/03/{k:02}, 21:05 - A: x{k}" for k in range(1, 31))))
    assert len(drafts(found)) == 30
    assert all(turn.time is None for turn in drafts(found))
    assert len(only(found, Warned)) == 21


def test_bytes_that_are_no_text_cost_their_message():
    body = (
        b"24.12.23, 21:05 - A: one\n24.12.23, 21:06 - B: caf\xe9\nmore\n24.12.23, 21:07 - A: two\n"
    )
    found = events(as_input(body, "chat.txt"))
    assert [turn.text for turn in drafts(found)] == ["one", "two"]
    [bad] = only(found, Rejected)
    assert (bad.where, "more" in bad.raw) == ("chat.txt:2", True)


def test_text_before_the_first_message_is_kept():
    found = events(chat("the end of something", "24.12.23, 21:05 - A: x"), name="whatsapp")
    assert [turn.text for turn in drafts(found)] == ["the end of something", "x"]
    assert len(only(found, Warned)) == 1


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_other_encodings(encoding):
    body = "24.12.23, 21:05 - Ää: x\n24.12.23, 21:06 - B: y\n".encode(encoding)
    assert [turn.speaker for turn in drafts(events(as_input(body, "c.txt")))] == ["Ää", "B"]


@pytest.mark.parametrize(
    "text",
    [
        "[2024-02-11 09:00] Ana: hi\n[2024-02-11 09:01] Bo: yo\n[2024-02-11 09:02] Ana: so\n",
        "2024-05-01 10:00:00 - INFO: started\n2024-05-01 10:00:01 - ERROR: failed\n",
        "2024-05-01 10:00:00,123 - root - INFO - started\n",
        "On 24.12.23, 21:05 - we met.\nNothing more.\n",
    ],
)
def test_what_is_no_export_is_not_taken_for_one(text):
    assert format_named("whatsapp").recognise(as_input(text, "t.txt")) is None


def test_a_text_without_stamps_is_refused_by_name():
    with pytest.raises(SourceFormatError, match="no line begins with a date"):
        events(as_input("Ana: hi\n", "t.txt"), name="whatsapp")


@pytest.mark.parametrize("line", ["1/1/24 " * 5_000, "\u200e" * 20_000, "[1" * 9_000, "1" * 9_000])
def test_no_line_is_slow_to_look_at(line):
    assert stamp_of(line) is None


def test_an_export_with_pictures_is_a_zip(tmp_path, memcli):
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as archive:
        archive.writestr("_chat.txt", "[24.12.23, 21:05:01] A: x\r\n[24.12.23, 21:06:01] B: y\r\n")
        archive.writestr("0001-PHOTO.jpg", b"\xff\xd8")
        archive.writestr("0002-CONTACT.vcf", "BEGIN:VCARD")
    done = memcli("ingest", "export.zip", "--json", "--annotator", "none")
    assert (done.code, done.json["added"], done.json["rejected"]) == (0, 2, [])
    again = memcli("ingest", "export.zip", "--json", "--annotator", "none")
    assert (again.json["added"], again.json["already_there"]) == (0, 2)


def test_a_grown_export_adds_what_grew(tmp_path, memcli):
    lines = [f"{k}.12.23, 21:05 - A: ok\n" for k in range(11, 20)]
    (tmp_path / "old.txt").write_text("".join(lines[:6]))
    (tmp_path / "new.txt").write_text("".join(lines[2:]))
    memcli("ingest", "old.txt", "--annotator", "none")
    done = memcli("ingest", "new.txt", "--json", "--annotator", "none").json
    assert (done["added"], done["already_there"], done["new_conversations"]) == (3, 4, 0)


def test_the_flag_settles_it_on_the_command_line(tmp_path, memcli):
    (tmp_path / "chat.txt").write_text("3/4/2021, 09:00 - Bram: a\n5/4/2021, 09:00 - Ines: b\n")
    refused = memcli("ingest", "chat.txt")
    assert refused.code == 1
    assert "--date-order" in refused.err
    assert memcli("ingest", "chat.txt", "--date-order", "mdy").code == 0
    times = [turn["time"] for turn in memcli("inspect", "turns", "--jsonl").lines]
    assert times == ["2021-03-04T09:00:00Z", "2021-05-04T09:00:00Z"]
    assert memcli("ingest", "chat.txt", "--date-order", "ddd").code == 2


@needs_shared
def test_the_samples_are_what_they_should_be():
    expected = json.loads((SHARED / "samples/whatsapp/expected.json").read_text())
    for name, (format_name, found) in read_paths(SHARED / "samples/whatsapp").items():
        if name == "expected.json":
            continue
        wanted = expected[name.removesuffix(".txt")]
        roles = [turn.role for turn in drafts(found)]
        assert format_name == "whatsapp"
        assert roles.count("user") == wanted["messages"], name
        assert roles.count("system") == wanted.get("system", 0), name
        assert len(roles) == len(found)


@needs_shared
def test_reported_faults_with_days_and_invisible_characters():
    cases = SHARED / "cases"
    found = read_paths(cases / "08-whatsapp-day-month/input/chat.txt")["chat.txt"][1]
    assert [iso(t)[:10] for t in drafts(found)] == ["2020-12-30", "2021-01-02", "2021-01-13"]
    ios = drafts(read_paths(cases / "09-whatsapp-invisible-chars/input/ios.txt")["ios.txt"][1])
    assert (ios[1].speaker, iso(ios[1])[11:19]) == ("Ola", "15:35:00")
    assert ios[1].caption.startswith("image: ")
    assert (len(ios), ios[2].text) == (3, "line one\nline two")
    spanish = drafts(read_paths(cases / "09-whatsapp-invisible-chars/input/es.txt")["es.txt"][1])
    said = [(t.speaker, iso(t)[11:16]) for t in spanish]
    assert said == [("Ines", "21:29"), ("Bram", "01:23")]
