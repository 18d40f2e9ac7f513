'use strict'

const { bytes } = require('../../../command/measure/client')
const { Load } = require('../../../command/measure/load')
const { serve } = require('./worker')

serve(shoot)

async function shoot ({ port, protocol, connections, seconds, ...request }) {
  const load = new Load({ port, connections, isTls: protocol === 'https' }, [{ parts: bytes({ port, ...request }), status: '200' }])
  return load.run({ seconds }).finally(() => load.close())
}
