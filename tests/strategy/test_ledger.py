"""The ledger: every request is written down, split, priced, and held to the cap."""

from __future__ import annotations

import threading

import fake_llm
import pytest
from fake_llm import FakeLLM

from memcli.budgets import count_tokens
from memcli.errors import BudgetExceeded, LLMReplyInvalid
from memcli.llm.client import ModelSettings, connect
from memcli.llm.prices import Price
from memcli.strategy.asking import TEXT, Prompt, object_schema
from memcli.strategy.ledger import Book, LedgerAsker, Spending

SCHEMA = object_schema("generate", final_answer=TEXT)
INDEX = "n00001 | ratios [others]\nn00002 | cash flows [others]"
MEMORY = "[n00001] Divide.\n[n00002] Add up.\n"
PROMPT = Prompt(
    messages=(
        {"role": "system", "content": "Answer."},
        {
            "role": "user",
            "content": f"<index>\n{INDEX}\n</index>\n\n<memory>\n{MEMORY}</memory>\n?",
        },
    ),
    index=INDEX,
    memory=MEMORY,
)
GOOD = '{"final_answer": "4"}'
PRICE = Price(prompt=0.01, completion=0.1, cached=0.001)


def a_book(written, *, cap=None, price=PRICE):
    return Book(
        write=written.append,
        spending=Spending(cap_usd=cap),
        price=price,
        count=count_tokens,
        clock=lambda: 1.0,
    )


def asked(book, *steps, times=1, phase="train"):
    with FakeLLM({"generate": list(steps)}) as fake:
        settings = ModelSettings(model="fake", api_base=fake.url)
        ask = LedgerAsker(
            lambda observe: connect(settings, observe=observe, sleep=lambda _: None), book, phase, 7
        )
        for _ in range(times):
            ask.ask(PROMPT, SCHEMA, max_tokens=9)
        return len(fake.seen)


def test_prompt_tokens_are_split_and_priced():
    written = []
    asked(a_book(written), fake_llm.say(GOOD, usage={"prompt_tokens": 90, "completion_tokens": 5}))
    (call,) = written
    assert call["index_tokens"] == count_tokens(INDEX)
    assert call["memory_tokens"] == count_tokens(MEMORY)
    assert call["rest_tokens"] == 90 - call["index_tokens"] - call["memory_tokens"]
    assert call["cost_usd"] == pytest.approx(90 * 0.01 + 5 * 0.1)
    assert (call["role"], call["phase"], call["step"]) == ("generate", "train", 7)
    assert (call["attempt"], call["outcome"], call["counted"]) == (1, "ok", "server")


def test_cached_tokens_have_their_own_price():
    written = []
    asked(a_book(written), fake_llm.say(GOOD))
    assert written[0]["cached_tokens"] == 5
    assert written[0]["cost_usd"] == pytest.approx(6 * 0.01 + 5 * 0.001 + 7 * 0.1)


def test_what_a_server_does_not_count_is_counted_here():
    written = []
    asked(a_book(written), fake_llm.say(GOOD, usage=None))
    (call,) = written
    assert call["counted"] == "memcli"
    whole = "\n".join(message["content"] for message in PROMPT.messages)
    assert abs(call["prompt_tokens"] - count_tokens(whole)) <= 4
    assert call["completion_tokens"] == count_tokens(GOOD)
    assert call["cost_usd"] == pytest.approx(
        call["prompt_tokens"] * 0.01 + call["completion_tokens"] * 0.1
    )


def test_failed_requests_are_lines_of_their_own():
    written = []
    asked(a_book(written), fake_llm.status(500), fake_llm.say("no JSON"), fake_llm.say(GOOD))
    assert [(call["attempt"], call["outcome"]) for call in written] == [
        (1, "status_500"),
        (2, "misfit"),
        (3, "ok"),
    ]
    assert [call["prompt_tokens"] for call in written] == [None, 11, 11]
    assert written[0]["cost_usd"] is None


def test_an_unusable_reply_is_paid_for():
    written = []
    book = a_book(written)
    with pytest.raises(LLMReplyInvalid):
        asked(book, fake_llm.say("no JSON"))
    assert len(written) == 2
    assert book.spending.cost_usd == pytest.approx(2 * written[0]["cost_usd"])


def test_an_unknown_price_stays_unknown():
    written = []
    book = a_book(written, price=None)
    asked(book, fake_llm.say(GOOD), times=2)
    assert [call["cost_usd"] for call in written] == [None, None]
    assert book.spending.cost_usd is None
    assert book.spending.tokens == 36


def test_nothing_is_sent_once_the_cap_is_reached():
    written = []
    book = a_book(written, cap=1.0)
    with pytest.raises(BudgetExceeded, match="cost cap"):
        asked(book, fake_llm.say(GOOD), times=10)
    assert len(written) == 2
    assert 1.0 <= book.spending.cost_usd < 1.0 + written[0]["cost_usd"]


def test_a_cap_holds_where_the_server_counts_nothing():
    written = []
    with pytest.raises(BudgetExceeded):
        asked(a_book(written, cap=0.5), fake_llm.say(GOOD, usage=None), times=10)
    assert len(written) == 1


def test_spending_of_an_earlier_part_counts():
    written = []
    book = a_book(written)
    asked(book, fake_llm.say(GOOD), times=2)
    again = Spending(cap_usd=1.0)
    for call in written:
        again.add(call)
    assert again.cost_usd == pytest.approx(book.spending.cost_usd)
    with pytest.raises(BudgetExceeded):
        again.check()


@pytest.mark.slow
def test_threads_lose_no_count():
    written = []
    book = a_book(written)
    threads = [
        threading.Thread(
            target=asked,
            args=(book, fake_llm.say(GOOD)),
            kwargs={"times": 20, "phase": "validation"},
        )
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(written) == 80
    assert book.spending.tokens == 0
    assert book.spending.cost_usd == pytest.approx(sum(call["cost_usd"] for call in written))
