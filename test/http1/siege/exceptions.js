'use strict'

/*
 * What node:http itself breaks: each with the reason. The front has none.
 */

const EXCEPTIONS = [
]

/** Whether a finding is a known one of the reference. */
module.exports = function isException (finding, conversation) {
  return finding.engine === 'node:http' &&
    EXCEPTIONS.some(({ what, holds = () => true }) => what === finding.what && holds(conversation, finding))
}
