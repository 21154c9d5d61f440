"""The one owner of a loaded pair: window, command line and server all talk to :class:`Host`."""

from app.host.host import Host
from app.host.values import AnswerEvent, ChatRequest, HostPhase, HostState, PairChoice

__all__ = ["AnswerEvent", "ChatRequest", "Host", "HostPhase", "HostState", "PairChoice"]
