// SPDX-License-Identifier: GPL-2.0
/*
 * The least the RDMA core wants to see before it calls a device a verbs
 * provider, which rdma_cm's configfs (default_roce_tos) asks for. Objects can
 * be made, nothing is ever transferred: rdma_rxe beside it does that. There is
 * no user context, so libibverbs does not see the device.
 */
#include <rdma/ib_verbs.h>

#include "testnic.h"

struct tn_pd {
	struct ib_pd ibpd;
};

struct tn_cq {
	struct ib_cq ibcq;
};

struct tn_qp {
	struct ib_qp ibqp;
};

struct tn_ah {
	struct ib_ah ibah;
};

static int tn_alloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	return 0;
}

static int tn_dealloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	return 0;
}

static int tn_create_cq(struct ib_cq *cq, const struct ib_cq_init_attr *attr,
			struct ib_udata *udata)
{
	cq->cqe = attr->cqe;
	return 0;
}

static int tn_destroy_cq(struct ib_cq *cq, struct ib_udata *udata)
{
	return 0;
}

static int tn_poll_cq(struct ib_cq *cq, int n, struct ib_wc *wc)
{
	return 0;
}

static int tn_req_notify_cq(struct ib_cq *cq, enum ib_cq_notify_flags flags)
{
	return 0;
}

static int tn_create_qp(struct ib_qp *qp, struct ib_qp_init_attr *attr,
			struct ib_udata *udata)
{
	if (attr->qp_type != IB_QPT_GSI)
		return -EOPNOTSUPP;
	qp->qp_num = 1;
	return 0;
}

static int tn_modify_qp(struct ib_qp *qp, struct ib_qp_attr *attr, int mask,
			struct ib_udata *udata)
{
	return 0;
}

static int tn_destroy_qp(struct ib_qp *qp, struct ib_udata *udata)
{
	return 0;
}

static int tn_post_send(struct ib_qp *qp, const struct ib_send_wr *wr,
			const struct ib_send_wr **bad)
{
	*bad = wr;
	return -EOPNOTSUPP;
}

static int tn_post_recv(struct ib_qp *qp, const struct ib_recv_wr *wr,
			const struct ib_recv_wr **bad)
{
	return 0;	/* kept by the caller, never completed */
}

static int tn_create_ah(struct ib_ah *ah, struct rdma_ah_init_attr *attr,
			struct ib_udata *udata)
{
	return 0;
}

static int tn_destroy_ah(struct ib_ah *ah, u32 flags)
{
	return 0;
}

static struct ib_mr *tn_get_dma_mr(struct ib_pd *pd, int access)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static struct ib_mr *tn_reg_user_mr(struct ib_pd *pd, u64 start, u64 length,
				    u64 virt_addr, int access,
				    struct ib_udata *udata)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static int tn_dereg_mr(struct ib_mr *mr, struct ib_udata *udata)
{
	return -EOPNOTSUPP;
}

const struct ib_device_ops tn_verbs_ops = {
	.alloc_pd	= tn_alloc_pd,
	.dealloc_pd	= tn_dealloc_pd,
	.create_cq	= tn_create_cq,
	.destroy_cq	= tn_destroy_cq,
	.poll_cq	= tn_poll_cq,
	.req_notify_cq	= tn_req_notify_cq,
	.create_qp	= tn_create_qp,
	.modify_qp	= tn_modify_qp,
	.destroy_qp	= tn_destroy_qp,
	.post_send	= tn_post_send,
	.post_recv	= tn_post_recv,
	.create_ah	= tn_create_ah,
	.destroy_ah	= tn_destroy_ah,
	.get_dma_mr	= tn_get_dma_mr,
	.reg_user_mr	= tn_reg_user_mr,
	.dereg_mr	= tn_dereg_mr,

	INIT_RDMA_OBJ_SIZE(ib_ah, tn_ah, ibah),
	INIT_RDMA_OBJ_SIZE(ib_cq, tn_cq, ibcq),
	INIT_RDMA_OBJ_SIZE(ib_pd, tn_pd, ibpd),
	INIT_RDMA_OBJ_SIZE(ib_qp, tn_qp, ibqp),
};
