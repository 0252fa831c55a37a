"""Overlays in virtual time: brokers, wires with faults, clients, metrics; scenarios as text.

topology     shapes of overlays
wires        what happens to a frame on its way
costs        how long a broker takes over an input
simulation   all of it together, event by event
tables       the brokers' tables as files
"""

from pathcast.sim.simulation import Simulation
from pathcast.sim.topology import Topology

__all__ = ["Simulation", "Topology"]
