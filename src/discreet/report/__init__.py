"""Releases for readers: sentences, tables that spreadsheets do not execute, and a page with pictures.

All of it is made of plain records, what JSON holds, so that a page can be made anew from the stored JSON.
"""

from discreet.report.page import page
from discreet.report.pdf import to_pdf
from discreet.report.record import from_json, to_json
from discreet.report.sheet import to_csv
from discreet.report.words import sentence

__all__ = ["from_json", "page", "sentence", "to_csv", "to_json", "to_pdf"]
