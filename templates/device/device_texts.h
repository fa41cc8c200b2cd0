
/* Texts of errors that several sources use. Part of the backend's file. */
#ifndef DLPACKGEN_DEVICE_TEXTS_H_
#define DLPACKGEN_DEVICE_TEXTS_H_

#define DEVICE_TEXT_NO_STREAM "%s: NULL instead of a stream"
#define DEVICE_TEXT_NO_STREAM_OUTPUT "%s: NULL instead of the stream"
#define DEVICE_TEXT_NO_TENSOR "NULL instead of the tensor"
#define DEVICE_TEXT_NO_ID "id: NULL instead of the id"
#define DEVICE_TEXT_NO_DEVICE "%s: there is no device %d; this process sees %d, numbered from 0"
#define DEVICE_TEXT_NO_START_MEMORY "out of host memory while starting"
#define DEVICE_TEXT_STREAM "%s: the stream %p"
#define DEVICE_TEXT_EVENT "%s: an event"
#define DEVICE_TEXT_POINTER "pointer_attributes of %p"
#define DEVICE_TEXT_COPY "copy of %llu bytes"
#define DEVICE_TEXT_COPY_ON_HOST "copy: neither tensor is in memory of %s"
#define DEVICE_TEXT_ALLOCATE_TYPE "allocate: device type %d; %s has the type %d"
/* With "stream" or "queue". */
#define DEVICE_TEXT_STREAM_DEVICE "%s: the %s %p is of device %d, not of device %d"
#define DEVICE_TEXT_STREAM_NUMBERS "a stream is None, -1, a default stream's number, or a handle"
/* The roles of streams and tensors, as the beginning of a text. */
#define DEVICE_TEXT_CONSUMER "stream_wait: the consumer's stream"
#define DEVICE_TEXT_PRODUCER "stream_wait: the producer's stream"
#define DEVICE_TEXT_DESTINATION "copy: the destination"
#define DEVICE_TEXT_SOURCE "copy: the source"
/* Ends of texts. */
#define DEVICE_TEXT_DEFAULT_CONTEXT "which libraries share; create it there"
#define DEVICE_TEXT_CAPTURED_SYNC "and waits for nothing before the graph is launched"
#define DEVICE_TEXT_CAPTURED_KEEP "whose work is done at each launch; keep the tensor as long as the graph"

#endif /* DLPACKGEN_DEVICE_TEXTS_H_ */
