'use strict'

const WARM = 500 // connections before the first look: what the first ones load is not counted

/**
 * Resident memory per idle keep-alive connection. Every round starts each server anew, for a heap that
 * has grown does not shrink back, and looks after a garbage collection.
 */
exports.memory = async function (lab, contenders, { workload, connections, question }) {
  const verified = await lab.start(contenders, { workload, ...question })
  await lab.stop(verified)
  const crowd = lab.crowd(connections)
  const cells = contenders.filter(({ name }) => verified.some(server => server.name === name))
    .map(contender => ({ workload, server: { name: contender.name }, contender }))
  await lab.rounds(cells, {
    visit: async ({ contender }) => ({ memory: await perConnection(lab, crowd, contender, connections) }),
    doubt: (cell, { memory }) => memory > 0 ? null : 'its memory did not grow',
    record: cells => lab.recordFigures(cells, [['memory', 'bytes/connection', ({ memory }) => memory]])
  })
  crowd.stop()
}

async function perConnection (lab, crowd, contender, connections) {
  const server = await lab.launch(contender)
  const residentWith = async connections => {
    await crowd.open({ port: server.port, connections })
    const { errors } = await crowd.greet()
    if (errors) throw new Error(`${errors} errors in the first responses`)
    return server.resident()
  }
  try {
    const before = await residentWith(WARM)
    return (await residentWith(connections) - before) / (connections - WARM)
  } finally {
    await crowd.reset()
    await server.stop()
  }
}
