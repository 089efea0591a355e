"""A process that starts workers and kills them (-9) at random points, then lets the last one finish.

Called with service.toml, the number of kills, a seed, and the longest time until a kill in seconds; prints what was
there after each of them.
"""

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

from discreet.service.desk import Desk
from discreet.service.jobs import work_off
from discreet.service.settings import read_settings


def worker(config: Path) -> None:
    """One request, in a process of its own; a line for the moment that it is finished."""
    desk = Desk(read_settings(config), config.parent)
    request = desk.requests.claim("w", time.time())
    if request is not None:
        work_off(desk, request)


def main(config: Path, kills: int, seed: int, longest: float) -> None:
    """Kill so many workers, and then let one live."""
    chance, told = random.Random(seed), []
    for place in range(kills + 1):
        began = time.monotonic()
        child = os.fork()
        if child == 0:
            worker(config)
            os._exit(0)
        if place < kills:
            time.sleep(chance.random() * longest)
            os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        took = time.monotonic() - began
        desk = Desk(read_settings(config), config.parent)
        charges = [one for one in desk.ledger.entries("people") if (one.request or "").startswith("plan ")]
        states = [one.state for one in desk.requests.listed({})]
        answers = sum(one.answer is not None for one in charges)
        told.append({"charges": len(charges), "answers": answers, "is": states, "took": took})
        desk.requests.again("w")
        desk.close()
    desk = Desk(read_settings(config), config.parent)
    told.append({"sound": desk.ledger.verify().ok})
    desk.close()
    sys.stdout.write(json.dumps(told))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]))
