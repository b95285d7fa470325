"""Chain new rows of the audit log by hashes."""

from __future__ import annotations

from crowdd.domain.server.audit_chain import AuditChain
from crowdd.sched.job import MINUTE, Job


async def _chain(audit_chain: AuditChain) -> str:
    return f"{await audit_chain.extend()} rows"


JOB = Job("chain_audit", MINUTE, lambda services: _chain(services.audit_chain))
