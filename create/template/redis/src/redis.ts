import { Redis } from 'ioredis'

/** Redis, if there is a REDIS_URL: what several processes share. */
export const redis = process.env.REDIS_URL ? new Redis(process.env.REDIS_URL) : null

redis?.on('error', err => console.error(err.message))

/** For /readyz. */
export const isUp = async () => redis === null || await redis.ping() === 'PONG'
