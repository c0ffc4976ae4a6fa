"""OpenAI-compatible chat endpoints, for agents, the simulated user and the annotation of budgets."""

from shopsim.chat.answer import ChatAnswer, text_of
from shopsim.chat.client import ChatClient, retry_pause
from shopsim.chat.endpoint import Endpoint
from shopsim.chat.errors import ChatError, ContextLengthError, NoCompletionError

__all__ = [
    "ChatAnswer",
    "ChatClient",
    "ChatError",
    "ContextLengthError",
    "Endpoint",
    "NoCompletionError",
    "retry_pause",
    "text_of",
]
