"""The environment over HTTP: slots, leases, the application and a client (spec 01 §8).

Clients need nothing of the server: :mod:`shopsim.service.app` and :mod:`shopsim.service.server` are imported
by who serves.
"""

from shopsim.service.client import ClientError, ShopClient
from shopsim.service.errors import BusyError, LeaseError, RequestError, ServiceError
from shopsim.service.options import ServiceOptions

__all__ = [
    "BusyError",
    "ClientError",
    "LeaseError",
    "RequestError",
    "ServiceError",
    "ServiceOptions",
    "ShopClient",
]
