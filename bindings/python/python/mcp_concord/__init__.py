"""mcp-concord in Python: reads, compares and checks recordings of MCP sessions.

Every function takes a recording as a path or as bytes, in any capture format, and answers what the command of its name prints::

    >>> import mcp_concord
    >>> session = b'{"jsonrpc":"2.0","id":null,"method":"ping"}'
    >>> [finding.rule for finding in mcp_concord.check(session, select="jsonrpc.id")]
    ['jsonrpc.id.null']

What cannot be answered raises :class:`ConcordError`; a path that cannot be read raises the usual :class:`OSError`. A function
works without the interpreter's lock, so that threads judge recordings side by side, and on the main thread Ctrl-C ends it. What a
person should know of an answer is a warning of the category :class:`ConcordWarning`.

Numbers keep their value: in what is parsed, one with a fraction or an exponent is a :class:`decimal.Decimal`. The functions whose
names end in ``_text`` give the JSON itself, in which each is spelled as in the recording.
"""

try:
    from . import _core as _core
except ImportError as _error:
    import platform as _platform

    raise ImportError(
        f"mcp_concord was installed for another platform than this, {_platform.python_implementation()} "
        f"{_platform.python_version()} on {_platform.system()} {_platform.machine()}: install it here with pip ({_error})"
    ) from _error

from ._api import check, convert, diff, identify, read, read_text, show, summary
from ._core import VERSION as __version__
from ._errors import ConcordError, ConcordWarning
from ._model import Comparison, Difference, Finding, Place, Related, Report, Required, Stopped

__all__ = [
    "Comparison",
    "ConcordError",
    "ConcordWarning",
    "Difference",
    "Finding",
    "Place",
    "Related",
    "Report",
    "Required",
    "Stopped",
    "__version__",
    "check",
    "convert",
    "diff",
    "identify",
    "read",
    "read_text",
    "show",
    "summary",
]
