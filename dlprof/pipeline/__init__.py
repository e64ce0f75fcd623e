"""Joins the stages: a traced run, its tables, a run of foreign traces, opening a stored run. No figures here."""
