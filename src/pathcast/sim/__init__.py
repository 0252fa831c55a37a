"""Simulation of networks in virtual time, and of overlays of brokers on top.

Any node (`pathcast.node`):

clock        virtual time and idleness
wires        latency, bandwidth and faults of one direction of a link
network      drives nodes by name: frames, timers, crashes, restarts
topology     graphs of brokers and links

Overlays of brokers:

simulation   `Simulation`: brokers with their clients
clients      the clients of one broker
costs        how long a broker takes for an input
metrics      counters, and their summary
tables       the brokers' tables as files
scenario     overlays, faults and expectations as text
drawing      an overlay as SVG
"""

from pathcast.sim.network import Network
from pathcast.sim.simulation import Simulation
from pathcast.sim.topology import Topology

__all__ = ["Network", "Simulation", "Topology"]
