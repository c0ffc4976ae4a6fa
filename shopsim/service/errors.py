"""Errors that a caller of the service can meet, with the status that answers them."""

from __future__ import annotations

from typing import ClassVar

from shopsim.errors import ShopSimError

__all__ = [
    "AdminError",
    "BodyTooLargeError",
    "BusyError",
    "ContentTypeError",
    "LeaseError",
    "RequestError",
    "ServiceError",
    "SlowBodyError",
]


class ServiceError(ShopSimError):
    """Root of the service's own errors."""

    code = "service"


class RequestError(ServiceError):
    """The request lacks a field, has one of a wrong type, or is no request at all."""

    code = "bad_request"
    http_status: ClassVar[int] = 400


class AdminError(ServiceError):
    """The action is the administrator's alone."""

    code = "forbidden"
    http_status: ClassVar[int] = 403


class SlowBodyError(ServiceError):
    """The body did not arrive in time."""

    code = "request_timeout"
    http_status: ClassVar[int] = 408


class LeaseError(ServiceError):
    """The lease is stale or belongs to somebody else."""

    code = "lease"
    http_status: ClassVar[int] = 409


class BodyTooLargeError(ServiceError):
    """The body is larger than the service reads."""

    code = "body_too_large"
    http_status: ClassVar[int] = 413


class ContentTypeError(ServiceError):
    """The body is not declared as JSON: browsers of other sites cannot send that without asking."""

    code = "content_type"
    http_status: ClassVar[int] = 415


class BusyError(ServiceError):
    """No slot came free in time, or too many requests are waiting already."""

    code = "busy"
    http_status: ClassVar[int] = 503
