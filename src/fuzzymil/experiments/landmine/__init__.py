"""Landmine detection by fusing radar detectors, on simulated alarms."""
