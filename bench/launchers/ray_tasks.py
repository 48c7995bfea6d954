"""Runs the lines of a file as tasks of Ray, on the cluster of RAY_ADDRESS or one of this machine: ray_tasks.py FILE

Exit code 0 if every command ended with 0.
"""
import os, subprocess, sys

import ray


@ray.remote(num_cpus=1)
def run(command):
    return subprocess.run(command, shell=True).returncode


ray.init(num_cpus=None if os.environ.get("RAY_ADDRESS") else os.cpu_count(), include_dashboard=False, log_to_driver=True)
lines = open(sys.argv[1]).read().splitlines()
sys.exit(1 if any(ray.get([run.remote(line) for line in lines])) else 0)
