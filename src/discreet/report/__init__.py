"""Releases for readers: sentences, tables that spreadsheets do not execute, and a page with pictures.

All of it is made of the stored form of releases, so that a page can be made anew from its JSON.
"""

from discreet.report.page import page, to_pdf
from discreet.report.record import Report, from_json, to_csv, to_json
from discreet.report.sentences import sentence

__all__ = ["Report", "from_json", "page", "sentence", "to_csv", "to_json", "to_pdf"]
