"""What stands behind a phone's stamp: a name and words, an attachment, or a notice.

``Ola: see you``, ``~ Ola: image omitted``, ``Bram added Ola``. The exporting phone writes its
own words (attachments, notices) in its own language and mostly puts a direction mark before
them; the marks tell them from words that a person typed. Pure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePath

from memcli.importers.phone_stamps import BLANKS, MARKS

PHONE_MARK = "\u200e"
"""The direction mark that phones put before words of their own."""
_NAMED = re.compile(rf"(?P<name>[^\n]{{1,100}}?):[{MARKS}]?(?:[{BLANKS}](?P<said>.*)|$)", re.DOTALL)
_MARKED = re.compile(rf"[{MARKS}]+")
_NAME_MARKS = re.compile(rf"[{MARKS}]")
_NAME_BLANKS = re.compile(rf"[{BLANKS}]+")
_STRANGER = re.compile(r"~ ?(?=\S)")
_QUOTES = frozenset('"“”„«»')
_ATTACHED = re.compile(r"<[^<>:\n]{1,40}: ?(?P<file>[^<>\n]{1,200}\.\w{1,5})>")
_BESIDE = re.compile(
    r"(?P<file>(?P<own>[A-Z]{3}-\d{8}-WA\d+)?[^\n()]{0,200}?\.\w{1,5}) \((?P<words>[^()\n]{4,40})\)"
)
_BESIDE_WORDS = """
    attached angehängt adjunto joint allegato bijgevoegd anexado anexo załączony добавлен
    прикреплён прикреплен ekli eklendi مرفق bifogad vedlagt vedhæftet liitetty csatolva
    přiložen atașat συνημμένο מצורף संलग्न 附加 附件 添付 첨부 terlampir đính
    """
_BESIDE_WORD = re.compile("|".join(_BESIDE_WORDS.split()), re.IGNORECASE)
_LEFT_OUT = re.compile(
    r"<[^<>\n]{3,40}>"
    r"|[^\n:]{2,40} (?:omitted|ausgelassen|weggelassen|ausgeschlossen|omitid[oa]s?|omise?s?"
    r"|omess[oai]|weggelaten|ocultad[oa]|absente?|pominięt[oya]|пропущен[оаы]?|dahil edilmedi"
    r"|utelämnad|udeladt|utelatt)\.?"
    r"|[^\n:]{0,20}(?:محذوف|استبعاد)[^\n:]{0,20}|[^\n:]{1,10}(?:已略去|忽略|省略|생략됨?)[^\n:]{0,4}"
)
_ENCRYPTED = re.compile(
    r"end-to-end|Ende-zu-Ende|extremo a extremo|bout en bout|punta a punta|crittografat"
    r"|ponta a ponta|eind-tot-eind|uçtan uca|сквозн|端到端|端對端|종단간|エンドツーエンド"
    r"|تمامًا بين الطرفين|تامة بين الطرفين|مشفرة|מקצה לקצה|encrypt",
    re.IGNORECASE,
)
_KINDS = {
    "image": ".jpg .jpeg .png .gif .heic .webp",
    "video": ".mp4 .mov .3gp .mkv .avi",
    "audio": ".opus .m4a .mp3 .ogg .aac .amr .wav",
    "contact": ".vcf",
}
_KIND_OF = {ending: kind for kind, endings in _KINDS.items() for ending in endings.split()}


@dataclass(frozen=True, slots=True)
class Said:
    """A message's first line behind the stamp.

    Attributes:
        name: Who is said to speak, as a person would write it; None where nobody is.
        text: The rest of the line.
        is_quoted: Whether the name holds quotation marks, as notices about a group do.
    """

    name: str | None
    text: str
    is_quoted: bool = False


def said_of(line: str) -> Said:
    """Return name and words of what stands behind a stamp."""
    match = _NAMED.match(line)
    name = name_of(match["name"]) if match else ""
    if match is None or not name:
        return Said(None, line)
    return Said(name, match["said"] or "", not _QUOTES.isdisjoint(name))


@lru_cache(maxsize=4_096)
def name_of(written: str) -> str:
    """Return a name without direction marks, no-break signs and the mark of a stranger."""
    bare = _NAME_BLANKS.sub(" ", _NAME_MARKS.sub("", written)).replace("\u2011", "-").strip()
    return _STRANGER.sub("", bare, count=1)


def is_marked(text: str) -> bool:
    """Say whether a text begins with a direction mark: the phone's own words mostly do."""
    return _MARKED.match(text) is not None


def unmarked(text: str) -> str:
    """Return a text without the direction marks that it begins with."""
    match = _MARKED.match(text)
    return text[match.end() :] if match else text


def is_media(text: str) -> bool:
    """Say whether a text, its first marks removed, stands for an attachment."""
    first = text.partition("\n")[0]
    return attachment(text) is not None or _LEFT_OUT.fullmatch(unmarked(first)) is not None


def attachment(text: str) -> str | None:
    """Return kind and file name of the attachment that a text names, or None."""
    if "." not in text or ("<" not in text and "(" not in text):
        return None
    first = unmarked(text.partition("\n")[0])
    found = _ATTACHED.search(text)
    beside = None if found else _BESIDE.fullmatch(first)
    if beside and (beside["own"] or _BESIDE_WORD.search(beside["words"])):
        found = beside
    if found is None:
        return None
    kind = _KIND_OF.get(PurePath(found["file"]).suffix.lower(), "file")
    return f"{kind}: {found['file']}"


def is_encryption_notice(text: str) -> bool:
    """Say whether a marked text is what the phone says of encryption when a chat begins."""
    return is_marked(text) and _ENCRYPTED.search(text, 0, 300) is not None


def is_notice(said: Said, text: str, *, group: str | None) -> bool:
    """Say whether a whole message is the phone's notice although it may carry a name.

    Args:
        said: Its first line.
        text: All of it.
        group: The chat's own name, which stands before notices.
    """
    if said.name is None:
        return True
    if not is_marked(text) or is_media(text):
        return False
    about_sender = unmarked(text).startswith(f"{said.name} ")
    return said.name == group or about_sender or is_encryption_notice(text)
