"""A pack in the making: a step at a time, so that neither the loop nor the screen waits for it."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

from mltd.runs.errors import MltdError

from ..consult_protocol import Packed, PackRequest
from .conversation import Conversation
from .errands import Leave, beside

if TYPE_CHECKING:
    from mltd.diagnosis.pack import PackMaterial
    from mltd.diagnosis.settings import ConsultSettings

    from ..followed_run import FollowedRun
    from .grounds import Grounds


class Packing:
    """Gets ready beside the loop, waits for the runs, notes what is quoted, has it read, packs."""

    def __init__(
        self, request: PackRequest, find: Callable[[int], FollowedRun | None], leave: Leave
    ) -> None:
        self.request = request
        self.conversation: Conversation | None = None
        """Once there is a pack."""
        self._find = find
        self._leave = leave
        self._settings: ConsultSettings | None = None
        self._destination = ""
        self._draft: tuple[Grounds, PackMaterial] | None = None
        self._is_read = False
        self._problem: Exception | None = None

    def begin(self) -> None:
        """See whether Claude could be asked at all."""
        beside(lambda: _prepare(self.request), self._leave, self._take_settings)

    def go_on(self) -> Packed | None:
        """Do what can be done now; the answer once there is one. Never raises."""
        try:
            if self._problem is None:
                return self._advance()
            problem = self._problem
        except Exception as error:  # noqa: BLE001 - a pack that fails is told, and the rest goes on
            problem = error
        if isinstance(problem, MltdError):
            return Packed(self.request.ticket, problem=problem.message, hint=problem.hint)
        sentence = f"The evidence could not be put together: {type(problem).__name__}: {problem}"
        return Packed(self.request.ticket, problem=sentence, hint="see the log file")

    def _take_settings(self, done: Future[tuple[ConsultSettings, str]]) -> None:
        self._problem = _exception(done)
        if self._problem is None:
            self._settings, self._destination = done.result()

    def _take_lines(self, done: Future[None]) -> None:
        self._problem = _exception(done)
        self._is_read = True

    def _advance(self) -> Packed | None:
        settings = self._settings
        if settings is None:
            return None
        if self._draft is None:
            if self._are_ready():
                self._note(settings)
            return None
        if not self._is_read:
            return None
        return self._pack(settings, *self._draft)

    def _are_ready(self) -> bool:
        """True once all runs were read to their ends, and judged."""
        numbers = [self.request.run, *(number for _, number in self.request.runs)]
        # Found before any is looked at: they are to be read side by side.
        found = [self._find(number) for number in numbers]
        return all(map(_is_ready, found))

    def _note(self, settings: ConsultSettings) -> None:
        from mltd.diagnosis.pack import build_pack
        from mltd.runs.errors import InputError
        from mltd.sessions.masking import Masker

        from .grounds import gather, material_of

        request = self.request
        grounds = gather(
            self._find,
            request.run,
            request.session,
            request.runs,
            named=request.named,
            sources=settings.sources,
            is_redacted=request.is_redacted,
        )
        if not grounds.runs:
            raise InputError("There is no run to ask about", hint="open one")
        found = {key: self._find(number) for key, number in grounds.numbers.items()}
        diagnoses = {
            key: one.diagnosis for key, one in found.items() if one and one.diagnosis is not None
        }
        material = material_of(grounds, diagnoses, settings.seconds)
        with grounds.book.noting():
            # Thrown away, and with it what a masker learns from half of the text.
            build_pack(material, budget_tokens=settings.pack_tokens, masker=Masker())
        self._draft = grounds, material
        beside(grounds.book.read_ahead, self._leave, self._take_lines)

    def _pack(self, settings: ConsultSettings, grounds: Grounds, material: PackMaterial) -> Packed:
        from mltd.diagnosis.second_opinion import SecondOpinion

        from .tool_calls import ToolCalls

        calls = ToolCalls(self._leave)
        with grounds.book.at_hand():
            opinion = SecondOpinion(material, grounds.masker, settings, calls, self._destination)
        calls.box = opinion.box
        preview = opinion.preview()
        self.conversation = Conversation(
            self.request.ticket, grounds, opinion, preview, material.diagnoses
        )
        return Packed(self.request.ticket, preview, opinion.pack.text)


def _prepare(request: PackRequest) -> tuple[ConsultSettings, str]:
    """Settings and destination, if nothing stands in the way; this imports for a second."""
    from mltd.diagnosis.client.access import obstacle
    from mltd.diagnosis.client.sdk_client import destination
    from mltd.diagnosis.settings import load

    settings = load(model=request.model, is_disabled=request.is_disabled, sources=request.sources)
    if (error := obstacle(settings)) is not None:
        raise error
    from . import grounds, page, places, question, tool_calls  # noqa: F401

    return settings, destination(settings)


def _is_ready(followed: FollowedRun | None) -> bool:
    if followed is None:
        return True
    is_whole = not followed.has_work and not followed.is_awaited
    return is_whole and (followed.diagnosis is not None or not followed.is_judgeable)


def _exception(done: Future[Any]) -> Exception | None:
    problem = done.exception()
    return problem if isinstance(problem, Exception) else None
