"""The main thread waits for compiled code in another one, so that it hears Ctrl-C."""

import _thread
import threading

import pytest

from coterie.kernel import waiting
from coterie.kernel.waiting import elsewhere


def test_what_is_done_elsewhere_gives_its_result_or_raises_what_went_wrong():
    seen = []
    assert elsewhere(lambda: seen.append(threading.current_thread()) or 7) == 7 and seen[0] is not threading.main_thread()
    with pytest.raises(ZeroDivisionError):
        elsewhere(lambda: 1 / 0)


def test_a_thread_that_is_not_the_main_one_does_it_itself():
    seen = []
    thread = threading.Thread(target=lambda: elsewhere(lambda: seen.append(threading.current_thread())))
    thread.start()
    thread.join()
    assert seen == [thread]


def test_an_interrupt_is_heard_meanwhile_and_the_work_is_given_up(monkeypatch):
    monkeypatch.setattr(waiting, "FAREWELL", 0.01)
    free, told = threading.Event(), []

    def work():
        _thread.interrupt_main()
        free.wait(60)

    with pytest.raises(KeyboardInterrupt):
        elsewhere(work, lambda: told.append(free.is_set()))
    assert told == [False]
    free.set()
