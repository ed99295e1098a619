"""The papers' tables and figures as frozen data, and the runner that measures them again."""
