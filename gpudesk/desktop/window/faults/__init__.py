"""Unexpected faults and crashes: logged, shown once, offered as a report."""
