"""Growable int arrays and an int hash map for Cython modules.

A header of inline C functions (`__init__.pxd`); Python code has nothing to import here.
"""
