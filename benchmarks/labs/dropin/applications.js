'use strict'

const { all, comparison, contender, install } = require('../../../test/compat/real/applications')
const Client = require('../../../test/compat/real/client')
const { verify } = require('../../lib/run/verify')

/*
 * Whole applications of `make compat`, as it installs them: kone is the tarball of `npm pack`, under the name koa. Each has
 * the server that its framework creates.
 */

const ANY = { type: /^/, body: () => true }

/** The rows: those on Koa 2 that are measured, the frameworks first, each with the one request of it that is measured. */
exports.APPLICATIONS = Object.fromEntries(all().filter(({ koa, load }) => koa === 2 && load)
  .sort((a, b) => Number(b.isFramework ?? false) - Number(a.isFramework ?? false))
  .map(({ name, title, load: { line, status = 200, ...options }, ...app }) => [name, {
    about: `${title} (${line.split('?')[0]})`,
    app: { name, ...app },
    request: Client.request(line, options),
    expected: { ...ANY, status },
    contenders: ['kone', 'koa']
  }]))

/**
 * Install an app for each contender, start what is behind it, and act. What cannot be installed is missing.
 *
 *    await withInstalled(lab, app, contenders, taking => lab.group(taking, …))
 */
exports.withInstalled = async function (lab, app, contenders, act) {
  let folders
  try {
    folders = contenders.map(({ name }) => install(app, name, lab.options))
  } catch (err) {
    return lab.miss(app.name, err.message)
  }
  const behind = app.behind && await lab.launch({ name: 'behind', isSpread: true, ...contender(app, folders[0], { part: 'behind' }) })
  await act(contenders.map((one, i) => ({ ...one, key: undefined, ...contender(app, folders[i], behind) })))
  await behind?.stop()
}

/** All requests of `make compat` are sent, and kone's responses compared with Koa's; then the one that is measured. */
exports.verifying = function (app, request) {
  const check = comparison(app)
  return async function (server, expected) {
    await check(server)
    return { ...await verify(server.port, request, expected), headers: {} } // those were compared, but for times and ids
  }
}
