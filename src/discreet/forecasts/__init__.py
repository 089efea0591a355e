"""Before anything is spent: the error to expect, the people or the epsilon needed, and what no method can beat."""
