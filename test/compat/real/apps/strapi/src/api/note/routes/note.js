'use strict'

const { factories } = require('@strapi/strapi')

const open = { auth: false }

module.exports = factories.createCoreRouter('api::note.note', {
  config: { find: open, findOne: open, create: open, update: open, delete: open }
})
