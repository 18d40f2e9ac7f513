'use strict'

const DEADLINE = 5000 // ms

/**
 * Reject if a store does not respond in time. Without this, a client that retries or queues while its
 * server is down would keep the request open.
 *
 *    const value = await deadline(client.get(key))
 *
 * @param {Promise} operation
 * @return {Promise} rejects with `KONE_ERR_STORE_TIMEOUT` after 5 s
 * @api private
 */
module.exports = function deadline (operation) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(timedOut()), DEADLINE)
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
