'use strict'

const { isIP } = require('node:net')
const { given } = require('../lib/shared/usage-error')

/**
 * Refuse requests for a foreign host. A page of a stranger cannot read what another origin responds, but its name may
 * lead to this machine (DNS rebinding): then the browser sends that name as Host.
 *
 * @param {string} [host] of the flag, which passes, too
 * @return {Function} middleware
 */
exports.ownHostOnly = function (host) {
  return function ownHostOnly (ctx, next) {
    const field = ctx.get('host') || ctx.get(':authority')
    if (field === '' || isOwn(field, host)) return next()
    ctx.status = 403
    ctx.body = `kone dev refuses the host ${given(nameOf(field))}: if it is yours, start with --host (kone/docs/api/command.md)\n`
  }
}

/** Is it a name that no DNS server of a stranger decides about? */
function isOwn (field, host) {
  const name = nameOf(field)
  return name === 'localhost' || name.endsWith('.localhost') || isIP(name) !== 0 || name === host?.toLowerCase()
}

/** Of `name:port`, `[address]:port` */
function nameOf (field) {
  return field.replace(/:\d*$/, '').replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '').toLowerCase()
}
