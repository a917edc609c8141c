"""From runs to an opinion whose citations were looked up: the pack, the talk and the check."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from .answer import Opinion, answer_schema, parse_opinion
from .citations import Check, CheckedOpinion
from .client.pricing import Tokens, dollars_for
from .client.sdk_client import destination
from .consultation import Consultation, ConsultationResult
from .pack import build_pack, tokens_of
from .preview import Preview
from .prompt import SYSTEM_PROMPT
from .tools import ToolBox, ToolResult

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mltd.analyzers.core.verdict import Diagnosis
    from mltd.sessions.masking import Masker

    from .citations.check import ByOwner
    from .client.calling import CallTool
    from .events import Event
    from .pack import PackMaterial
    from .settings import ConsultSettings

T = TypeVar("T")


class SecondOpinion:
    """One thread of conversation about some runs; nothing is sent before `ask`."""

    def __init__(
        self,
        material: PackMaterial,
        masker: Masker,
        settings: ConsultSettings,
        call_tool: CallTool | None = None,
        destination: str = "",
    ) -> None:
        """`call_tool` is for whoever must not have the runs read by another thread.

        `destination` is for whoever has asked the SDK for it already, which takes a second.
        """
        self._material = material
        self._masker = masker
        self._settings = settings
        self.pack = build_pack(material, budget_tokens=settings.pack_tokens, masker=masker)
        self.box = ToolBox(material.book, material.runs, material.diagnoses, masker)
        self._diagnoses = tuple(material.diagnoses.values())
        """All that the model may have been told."""
        self._turn = threading.Lock()
        self._schema: dict[str, Any] = answer_schema()
        self.consultation = Consultation(
            settings,
            self.box.specs,
            call_tool or self._call,
            schema=self._schema,
            parse=parse_opinion,
        )
        self.consultation.destination = destination

    @property
    def model(self) -> str:
        """Who is asked."""
        return self.consultation.model

    def preview(self) -> Preview:
        """What `ask` would send first, and the only place that it will send to.

        Raises `ConsultError` if the SDK knows no such place.
        """
        talk = self.consultation
        talk.destination = talk.destination or destination(self._settings)
        text = self.pack.text
        tools = json.dumps([[s.name, s.description, s.schema] for s in self.box.specs])
        around = tokens_of(SYSTEM_PROMPT) + tokens_of(tools) + tokens_of(json.dumps(self._schema))
        tokens = self.pack.tokens + around
        # Written to the cache: every later look of the model reads it from there.
        dollars = dollars_for(self.model, Tokens(cache_write=tokens))
        return Preview(
            talk.destination,
            self.model,
            len(text),
            tokens,
            dollars,
            self.pack.redactions,
            tuple((section.title, section.tokens) for section in self.pack.sections),
            self.pack.left_out,
            self._settings.pack_tokens,
            self._settings.max_dollars,
            self._settings.budget_tokens,
            self._masker.redacts,
        )

    async def ask(
        self, on_event: Callable[[Event], None], cancel: asyncio.Event | None = None
    ) -> ConsultationResult:
        """Send the evidence and wait for an opinion; it is not checked yet."""
        return await self.consultation.ask(self.pack.text, on_event, cancel)

    async def follow_up(
        self,
        question: str,
        on_event: Callable[[Event], None],
        cancel: asyncio.Event | None = None,
    ) -> ConsultationResult:
        """Ask on; what the person writes is masked like everything else."""
        return await self.consultation.follow_up(self._masker.clean(question), on_event, cancel)

    def renew(self, diagnoses: Mapping[str, Diagnosis]) -> None:
        """Let later questions know what the analyzers say by now."""
        self.box.renew(diagnoses)
        self._diagnoses = (*self._material.diagnoses.values(), *diagnoses.values())

    def checked(
        self, result: ConsultationResult, by_owner: ByOwner | None = None
    ) -> CheckedOpinion | None:
        """The opinion with every citation looked up; None if there is none. Reads files."""
        check = self.checking(result, by_owner)
        if check is None:
            return None
        check.run()
        return check.result()

    def checking(
        self,
        result: ConsultationResult,
        by_owner: ByOwner | None = None,
        on_progress: Callable[[int, int], None] | None = None,
    ) -> Check | None:
        """The same for whoever may want to stop it; it has not begun yet."""
        if not isinstance(result.opinion, Opinion):
            return None
        return Check(
            result.opinion,
            self._material.book,
            diagnoses=self._diagnoses,
            masker=self._masker,
            by_owner=by_owner,
            on_progress=on_progress,
        )

    async def _call(self, name: str, arguments: dict[str, Any]) -> ToolResult:
        def work() -> ToolResult:
            # The model may ask for several looks at once; the runs are read by one at a time.
            with self._turn:
                return self.box.call(name, arguments)

        return await aside(work)


async def aside(work: Callable[[], T]) -> T:
    """What `work` returns or raises, in a thread of its own that nobody ever waits for."""
    # Not `asyncio.to_thread`: its threads are waited for at the end, and whoever has cancelled
    # must not wait for a file system that hangs.
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def settle(result: T | None, problem: Exception | None) -> None:
        if done.done():
            return
        if problem is not None:
            done.set_exception(problem)
        else:
            done.set_result(result)  # type: ignore[arg-type]

    def run() -> None:
        result, problem = None, None
        try:
            result = work()
        except Exception as error:  # noqa: BLE001 - whoever waits has to deal with it
            problem = error
        try:
            loop.call_soon_threadsafe(settle, result, problem)
        except RuntimeError:
            return  # the loop is closed: nobody waits any more

    threading.Thread(target=run, name="look", daemon=True).start()
    return await done
