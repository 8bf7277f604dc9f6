"""A cluster of one node on this machine: munged, slurmctld and slurmd on the loopback interface."""

import os
import pathlib
import shutil
import socket
import subprocess
import time

import pytest

PROGRAMS = ["munged", "slurmctld", "slurmd", "sbatch", "squeue", "scontrol"]


def need_slurm():
    """Skips if Slurm cannot be started here."""
    missing = [name for name in PROGRAMS if not shutil.which(name)]
    if missing:
        pytest.skip(f"{missing[0]} is missing (Debian packages slurm-wlm and munge)")
    if os.geteuid() != 0:
        pytest.skip("not done here: only root may start Slurm")


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


class Slurm:
    """Its daemons run until end()."""

    def __init__(self, folder):
        self.folder = folder = pathlib.Path(folder).resolve()
        for name in ("state", "spool"):
            (folder / name).mkdir()
        host = os.uname().nodename.split(".")[0]
        control, node = free_ports(2)
        munge = folder / "munge"
        munge.mkdir(mode=0o700)
        (munge / "key").write_bytes(os.urandom(128))
        (munge / "key").chmod(0o600)
        socket_file = munge / "socket"
        config = folder / "slurm.conf"
        config.write_text(
            f"""ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={control}
SlurmdPort={node}
AuthType=auth/munge
AuthInfo=socket={socket_file}
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
MailProg=/bin/true
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
SchedulerType=sched/backfill
SlurmdParameters=config_overrides
ReturnToService=2
NodeName={host} NodeAddr=127.0.0.1 CPUs={os.cpu_count()} RealMemory=16000 State=UNKNOWN
PartitionName=main Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""
        )
        self.environment = {**os.environ, "SLURM_CONF": str(config)}
        self.daemons = [
            self.start(
                "munged", "--foreground", "--force", f"--socket={socket_file}",
                f"--key-file={munge}/key", f"--pid-file={munge}/pid", f"--log-file={munge}/log",
                f"--seed-file={munge}/seed", "--num-threads=2",
            )
        ]
        self.wait("munged", socket_file.exists)
        self.daemons += [self.start("slurmctld", "-D"), self.start("slurmd", "-D")]
        self.wait("a node", lambda: "idle" in self.call("sinfo", "--noheader", "--format=%T").stdout)

    def start(self, *command):
        with (self.folder / f"{command[0]}.out").open("w") as out:
            return subprocess.Popen(command, env=self.environment, stdout=out, stderr=out)

    def call(self, *command, folder=None):
        return subprocess.run(
            command, env=self.environment, cwd=folder, capture_output=True, text=True, timeout=60
        )

    def good(self, *command, folder=None):
        ran = self.call(*command, folder=folder)
        assert ran.returncode == 0, f"{command}: {ran.stderr}"
        return ran.stdout

    def wait(self, what, there, seconds=60):
        end = time.time() + seconds
        while not there():
            for daemon in self.daemons:
                assert daemon.poll() is None, f"{daemon.args[0]} ended: {self.logs()}"
            assert time.time() < end, f"{what} did not come within {seconds} s: {self.logs()}"
            time.sleep(0.2)

    def logs(self):
        files = [*self.folder.glob("*.log"), *self.folder.glob("*.out"), *self.folder.glob("munge/log")]
        return "\n".join(f"{file.name}: {file.read_text()[-2000:]}" for file in files)

    def end(self):
        self.call("scancel", "--user=root")
        for daemon in reversed(self.daemons):
            daemon.terminate()
            try:
                daemon.wait(20)
            except subprocess.TimeoutExpired:
                daemon.kill()
