'use strict'

const fs = require('node:fs')
const path = require('node:path')

/*
 * A certificate of localhost for the servers that speak TLS, made for the run: a key in the repository would be
 * everybody's.
 */

/**
 * Make one, with an elliptic key as certificate authorities give them today.
 *
 *    await makeCertificate(folder)
 *    https.createServer(certificate(folder))
 */
exports.makeCertificate = async function (folder) {
  const { generate } = require('selfsigned')
  const name = [{ name: 'commonName', value: 'localhost' }]
  const { private: key, cert } = await generate(name, { keyType: 'ec', curve: 'P-256' })
  fs.writeFileSync(path.join(folder, 'key.pem'), key, { mode: 0o600 })
  fs.writeFileSync(path.join(folder, 'cert.pem'), cert)
}

/** The one in a folder. */
exports.certificate = function (folder) {
  const read = name => fs.readFileSync(path.join(folder, name), 'utf8')
  return { key: read('key.pem'), cert: read('cert.pem') }
}
