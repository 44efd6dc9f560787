import { memo } from 'react'
import { fileSize, mebibytes } from '../../../src/encoding/amounts.ts'
import { LIMITS } from '../../../src/model/limits.ts'
import { useStore } from '../store/store.ts'
import { visible } from '../transcript/text.ts'
import type { Rollback } from './outbox.ts'
import type { DraftFile, Uploads } from './uploads.ts'

/** The files of a draft in their order, each with what the server says about it. */
export const Chips = memo(function Chips({
  files,
  uploads,
  rollback,
}: {
  readonly files: readonly DraftFile[]
  readonly uploads: Uploads
  readonly rollback: Rollback | undefined
}) {
  const onTheWay = useStore(uploads.store)
  const verdicts = useStore(uploads.verdicts)
  if (files.length + onTheWay.length === 0) return null
  const total = files.reduce(
    (sum, { path, sizeBytes = 0 }) =>
      verdicts.get(path)?.accepted === false ? sum : sum + sizeBytes,
    0,
  )
  return (
    <div className="chips" aria-label="Files to send" role="list">
      {files.map(({ path, name, sizeBytes = 0, mediaType = '' }) => {
        const verdict = verdicts.get(path)
        const refused = rollback?.files.find((one) => one.path === path)?.reason ?? verdict?.reason
        const picture = uploads.previews.get(path)
        return (
          <div
            key={path}
            role="listitem"
            className={refused === undefined ? 'chip' : 'chip refused'}
          >
            {picture !== undefined && <img src={picture} alt="" />}
            <bdi className="name">{visible(name)}</bdi>
            <span className="quiet">
              {mediaType === '' ? '' : `${mediaType} · `}
              {fileSize(sizeBytes)}
            </span>
            <span className="verdict">
              {refused === undefined
                ? verdict === undefined
                  ? 'checking…'
                  : '✓ accepted'
                : `✗ ${visible(refused)}`}
            </span>
            <button
              type="button"
              aria-label={`Remove ${name}`}
              onClick={() => uploads.remove(path)}
            >
              ×
            </button>
          </div>
        )
      })}
      {onTheWay.map(({ key, name, sizeBytes, problem }) => (
        <div key={key} role="listitem" className={problem === undefined ? 'chip' : 'chip refused'}>
          <bdi className="name">{visible(name)}</bdi>
          <span className="quiet">{fileSize(sizeBytes)}</span>
          <span className="verdict">{problem === undefined ? 'uploading…' : `✗ ${problem}`}</span>
          <button
            type="button"
            aria-label={`Remove ${name}`}
            onClick={() => uploads.removeUploading(key)}
          >
            ×
          </button>
        </div>
      ))}
      <span className={total > LIMITS.turn_attachment_bytes ? 'problem' : 'quiet'} role="listitem">
        {fileSize(total)} of {mebibytes(LIMITS.turn_attachment_bytes)}
        {total > LIMITS.turn_attachment_bytes ? ': what exceeds it is refused' : ''}
      </span>
    </div>
  )
})
