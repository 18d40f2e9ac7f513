'use strict'

const DEADLINE = 5000 // ms

/**
 * Reject if a store, or another operation, does not respond in time. Without this, a client that retries or queues
 * while its server is down would keep the request open.
 *
 *    const value = await deadline(client.get(key))
 *
 * @param {Promise} operation
 * @param {number} [ms=5000]
 * @param {Function} [error] `() => Error`; default: one of code `KONE_ERR_STORE_TIMEOUT`
 * @return {Promise} rejects with this error after so many ms
 * @api private
 */
module.exports = function deadline (operation, ms = DEADLINE, error = timedOut) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(error()), ms)
    operation.then(
      value => {
        clearTimeout(timer)
        resolve(value)
      },
      err => {
        clearTimeout(timer)
        reject(err)
      }
    )
  })
}

function timedOut () {
  const err = new Error(`no response within ${DEADLINE} ms`)
  err.code = 'KONE_ERR_STORE_TIMEOUT'
  return err
}
