'use strict'

exports.about = 'parses nothing, writes the same bytes for every read'

exports.start = () => require('../../../lib/servers/fixed').start()
