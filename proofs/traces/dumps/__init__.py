"""Dumps of threads and reports of lock checkers: who holds a lock, who waits for one, and the circle of both."""
