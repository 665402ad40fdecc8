"""report: the history in DuckDB and the page. The only place that knows DuckDB and HTML."""

from stages.report.history import ask, connect, write_history
from stages.report.session import Session, query
from stages.report.site import report_all

__all__ = ["Session", "ask", "connect", "query", "report_all", "write_history"]
