"""Verify the chain of the audit log, and log where it does not hold."""

from __future__ import annotations

from twisted.logger import Logger

from crowdd.domain.server.audit_chain import AuditChain, sentence
from crowdd.sched.job import DAY, Job

log = Logger()


async def _verify(audit_chain: AuditChain) -> str:
    misfit = await audit_chain.verify()
    if misfit is None:
        return "the chain holds"
    log.error("audit log changed: {sentence}", sentence=sentence(misfit))
    return sentence(misfit)


JOB = Job("verify_audit", DAY, lambda services: _verify(services.audit_chain))
