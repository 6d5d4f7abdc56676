"""Whether JSON is what a document of OpenAPI says: one line for each that is not."""

import json
import sys

from jsonschema_rs import Draft202012Validator

document, cases = (json.load(open(path)) for path in sys.argv[1:3])
for number, (name, instance) in enumerate(cases):
    schema = {"$ref": f"#/components/schemas/{name}", "components": document["components"]}
    errors = Draft202012Validator(schema).iter_errors(instance)
    for error in list(errors)[:1]:
        print(number, name, list(error.instance_path), error.message[:300])
