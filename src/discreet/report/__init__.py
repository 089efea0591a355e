"""Releases for readers: sentences, tables that spreadsheets do not execute, and a page with pictures."""
