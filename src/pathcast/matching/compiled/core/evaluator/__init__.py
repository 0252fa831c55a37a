"""Conditions that are neither paths nor twigs, evaluated on one document: the plain engine's joins on flat arrays.

compiled     conditions as numbers, what they share once
nodes        a tree's nodes numbered in document order, with regions and string-values
joins        steps and paths on these
evaluate     does a condition hold at the document node?
"""
