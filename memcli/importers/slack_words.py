"""The words of a Slack message: its text, else its blocks, else what apps attach to it. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from memcli.importers.fields import first_text, object_of, objects_of, text_of

_INNER = ("elements", "fields", "accessory", "text", "title", "rows", "options")


def words(message: dict[str, Any]) -> str | None:
    """Return what a message says, its escapes decoded; None where there is nothing to read.

    Mark-up (``<@U1>``, ``*bold*``) stays as written. Where the text is only the beginning of
    what its blocks say, the blocks count.
    """
    said = message.get("text")
    if said is not None and not isinstance(said, str):
        return None
    comment = text_of(object_of(message, "comment"), "comment")
    text = unescaped(said or comment or "")
    shown = "".join(_shown(objects_of(message, "blocks"))).strip("\n")
    if shown and _is_beginning(text, shown):
        return shown
    if text:
        return text
    attached = [unescaped(each) for each in attachments(message)]
    if attached:
        return "\n".join(attached)
    has_more = any(message.get(key) for key in ("files", "file", "blocks", "attachments"))
    return "" if said is not None or has_more else None


def unescaped(text: str) -> str:
    """Return a text with Slack's three escapes decoded, once."""
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def _is_beginning(text: str, shown: str) -> bool:
    """Say whether a text is what blocks show, cut short."""
    bare = " ".join(text.rstrip("…. ").split())
    whole = " ".join(shown.split())
    return len(whole) > len(" ".join(text.split())) and whole.startswith(bare)


def _shown(blocks: list[dict[str, Any]]) -> Iterator[str]:
    """Yield the words of blocks, in order; sections end with a line break."""
    for block in blocks:
        yield from _words_of(block)
        kind = text_of(block, "type") or ""
        if kind.startswith(("rich_text_", "section", "header", "context")):
            yield "\n"


def _words_of(block: dict[str, Any]) -> Iterator[str]:
    kind = text_of(block, "type")
    match kind:
        case "text" | "plain_text" | "mrkdwn" | "raw_text":
            text = text_of(block, "text") or ""
            yield unescaped(text) if kind == "mrkdwn" else text
        case "link":
            yield text_of(block, "text") or text_of(block, "url") or ""
        case "emoji":
            yield f":{text_of(block, 'name') or ''}:"
        case "user":
            yield f"<@{text_of(block, 'user_id') or ''}>"
        case "usergroup":
            yield f"<!subteam^{text_of(block, 'usergroup_id') or ''}>"
        case "channel":
            yield f"<#{text_of(block, 'channel_id') or ''}>"
        case "broadcast":
            yield f"<!{text_of(block, 'range') or ''}>"
        case _:
            for key in _INNER:
                inner = block.get(key)
                yield from _shown([inner] if isinstance(inner, dict) else objects_of(block, key))


def attachments(message: dict[str, Any]) -> list[str]:
    """Return the words of each attachment that has any: of apps, links, shared messages."""
    return [text for each in objects_of(message, "attachments") if (text := _attached(each))]


def _attached(attachment: dict[str, Any]) -> str:
    lines = [text_of(attachment, key) for key in ("pretext", "title", "text")]
    pairs = (
        (text_of(each, "title"), text_of(each, "value"))
        for each in objects_of(attachment, "fields")
    )
    lines += [": ".join(filter(None, pair)) for pair in pairs]
    found = [line for line in lines if line]
    shown = "".join(_shown(objects_of(attachment, "blocks"))).strip("\n")
    return "\n".join(found) or shown or text_of(attachment, "fallback") or ""


def caption(message: dict[str, Any]) -> str | None:
    """Return the files of a message, and what is attached below words of its own."""
    files = [*objects_of(message, "files"), *filter(None, [object_of(message, "file")])]
    found = [f"file: {first_text(each, 'name', 'title', 'id') or 'unnamed'}" for each in files]
    if text_of(message, "text"):
        found += [f"attachment: {unescaped(each)}" for each in attachments(message)]
    return "; ".join(found) or None
