"""A service on a Ray cluster: POST {"text": "..."} returns {"result": "..."}.

    serve run ray_serve:app model=MODEL precision=int8

Requests that arrive at the same time share batches, even from different clients. The model forms the batches, so
@serve.batch is not needed. A request whose client disconnects is cancelled.
"""

import os

from ray import serve
from starlette.requests import Request
from starlette.responses import JSONResponse

import encdec

CPUS = int(os.environ.get("CPUS", "1"))  # CPUs of a replica


@serve.deployment(max_ongoing_requests=256, ray_actor_options={"num_cpus": CPUS})
class Generate:
    def __init__(self, model: str, options: dict):
        self.model = encdec.Model(model, threads=CPUS, **options)

    async def __call__(self, request: Request):
        try:
            body = await request.json()
            if not isinstance(body, dict) or not isinstance(body.get("text"), str):
                raise ValueError('expected {"text": "..."}')
            [result] = await self.model.agenerate(body["text"])
        except ValueError as error:  # encdec's InputError is a ValueError
            return JSONResponse({"error": str(error)}, status_code=400)
        return {"result": result.text}


def app(arguments: dict) -> serve.Application:
    return Generate.bind(arguments.pop("model"), arguments)
