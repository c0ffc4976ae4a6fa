"""The bundled shopping environment: catalogue, search, session, reward, rollouts, data pipeline."""

__version__ = "0.1.0"
