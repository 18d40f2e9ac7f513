'use strict'

module.exports = {
  auth: { secret: 'a secret of this test' },
  apiToken: { salt: 'salt' },
  transfer: { token: { salt: 'salt' } },
  secrets: { encryptionKey: 'a key of this test, 32 characters' },
  flags: { nps: false, promoteEE: false }
}
