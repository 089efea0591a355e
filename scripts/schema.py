"""Write docs/plan.schema.json: what a release plan may say, for editors that complete and check TOML.

python -m scripts.schema
"""

import json
from pathlib import Path

from discreet.plan.plan_schema import schema

PAGE = Path(__file__).parent.parent / "docs" / "plan.schema.json"

if __name__ == "__main__":
    PAGE.write_text(json.dumps(schema(), indent=2) + "\n")
