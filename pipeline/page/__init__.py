"""The pages a person opens: the report and a scan to turn."""
