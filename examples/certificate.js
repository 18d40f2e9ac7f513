'use strict'

const { readFileSync } = require('node:fs')
const selfsigned = require('selfsigned')

/**
 * Key and certificate from the files KEY and CERT, or generated for localhost.
 *
 * @return {Promise<{ key, cert }>}
 */
module.exports = async function certificate () {
  const { KEY, CERT } = process.env
  if (KEY || CERT) {
    try {
      return { key: readFileSync(String(KEY)), cert: readFileSync(String(CERT)) }
    } catch (err) {
      console.error(`cannot read the certificate (KEY, CERT): ${err.message}`)
      process.exit(1)
    }
  }
  const made = await selfsigned.generate([{ name: 'commonName', value: 'localhost' }], {
    days: 7,
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: 'localhost' }] }]
  })
  return { key: made.private, cert: made.cert }
}
